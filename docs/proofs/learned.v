(** * Learned rows: Theorem 4.13 *)

From Coq Require Import Reals List Lra Lia ZArith.
From Book Require Import definitions.
Import ListNotations.
Open Scope R_scope.

(** A function from positions to vectors, one entry at a time: [f p a]. *)
Definition rows := nat -> nat -> R.

(** Theorem 4.13 (what a table can be): (a) every function from the positions below [L] to vectors
    of width [d] is a table of L d numbers, written row by row. *)
Theorem every_function_is_a_table : forall (L d : nat) (f : rows),
  exists numbers : list R, length numbers = (L * d)%nat /\
  forall p a, (p < L)%nat -> (a < d)%nat -> nth (p * d + a) numbers 0 = f p a.
Proof.
  intros L d f.
  exists (map (fun j => f (j / d)%nat (j mod d)%nat) (below (L * d))).
  split; [unfold below; now rewrite size_map, size_seq|].
  intros p a P A. assert (J : (p * d + a < L * d)%nat) by nia.
  rewrite (nth_indep _ 0 (f (0 / d) (0 mod d))%nat)
    by (unfold below; now rewrite size_map, size_seq).
  rewrite (map_nth (fun j => f (j / d)%nat (j mod d)%nat)). unfold below.
  rewrite seq_nth by auto. simpl Nat.add.
  (* row and column are found again *)
  rewrite <- (Nat.div_unique (p * d + a) d p a), <- (Nat.mod_unique (p * d + a) d p a) by lia.
  reflexivity.
Qed.

(** The sinusoidal encoding is one of them: here are its entries, for the width 2n. *)
Definition sinusoidal_rows (w : nat -> R) : rows := fun p a =>
  if Nat.even a then fst (PE w (INR p) (a / 2)%nat) else snd (PE w (INR p) (a / 2)%nat).

Theorem the_sinusoidal_encoding_is_a_table : forall w (L n : nat),
  exists numbers : list R, length numbers = (L * (2 * n))%nat /\
  forall p i, (p < L)%nat -> (i < n)%nat ->
    nth (p * (2 * n) + 2 * i) numbers 0 = sin (INR p * w i) /\
    nth (p * (2 * n) + (2 * i + 1)) numbers 0 = cos (INR p * w i).
Proof.
  intros w L n. destruct (every_function_is_a_table L (2 * n) (sinusoidal_rows w)) as [l [Len E]].
  exists l. split; auto. intros p i P I. rewrite !E by lia. unfold sinusoidal_rows.
  rewrite Nat.even_add, Nat.even_mul. cbn [Nat.even orb Bool.eqb].
  rewrite half_of_even.
  rewrite half_of_odd.
  split; reflexivity.
Qed.

(** ** Training *)

(** A text of [k] tokens meets the rows 0, ..., k - 1. *)
Definition rows_met {T : Type} (E : rows) (text : list T) : list (nat -> R) :=
  map E (below (length text)).

(** The loss on some texts: any cost of a text and the rows that it meets, summed. *)
Definition loss {T : Type} (cost : list T -> list (nat -> R) -> R) (texts : list (list T))
  (E : rows) : R := sum (fun text => cost text (rows_met E text)) texts.

(** The table with one number replaced. *)
Definition replaced (E : rows) (p a : nat) (x : R) : rows := fun p' =>
  if Nat.eqb p' p then fun a' => if Nat.eqb a' a then x else E p' a' else E p'.

(** [g] is the derivative of the loss by the number in row [p], column [a]. *)
Definition gradient (f : rows -> R) (E : rows) (p a : nat) (g : R) : Prop :=
  derivable_pt_lim (fun x => f (replaced E p a x)) (E p a) g.

(** Theorem 4.13 (b): texts of at most [n] tokens have the derivative 0 by every number of the rows
    from [n] on, *)
Theorem rows_beyond_the_texts_get_no_gradient :
  forall (T : Type) (cost : list T -> list (nat -> R) -> R) (texts : list (list T)) n,
  (forall text, In text texts -> (length text <= n)%nat) ->
  forall E p a, (n <= p)%nat -> gradient (loss cost texts) E p a 0.
Proof.
  intros T cost texts n Short E p a P.
  (* such a number is in no row that a text meets: the loss is a constant *)
  assert (Const : forall x, loss cost texts (replaced E p a x) = loss cost texts E).
  { intros x. unfold loss. apply sum_ext. intros text I. f_equal. unfold rows_met.
    apply map_ext_in. intros p' P'. apply in_seq in P'. specialize (Short text I).
    unfold replaced. replace (p' =? p)%nat with false; auto.
    symmetry. apply Nat.eqb_neq. lia. }
  intros eps Eps. exists (mkposreal 1 Rlt_0_1). intros h H _. rewrite !Const.
  unfold Rdiv, Rminus. rewrite Rplus_opp_r, Rmult_0_l, Ropp_0, Rplus_0_r, Rabs_R0. exact Eps.
Qed.

(** so training leaves these rows where they started, whatever the texts and the cost of each
    step [s]. A rule [update] moves each number by what it makes of the number's derivatives so
    far, the last one included, and by 0 as long as all of them are 0: gradient descent is such a
    rule, with and without momentum, and so is Adam. *)
Theorem training_leaves_rows_beyond_the_texts :
  forall (T : Type) (cost : nat -> list T -> list (nat -> R) -> R) (texts : nat -> list (list T))
    (update : nat -> list R -> R) (E : nat -> rows) (g : nat -> rows) n,
  (forall s text, In text (texts s) -> (length text <= n)%nat) ->
  (forall s p a, gradient (loss (cost s) (texts s)) (E s) p a (g s p a)) ->
  (forall s l, (forall x, In x l -> x = 0) -> update s l = 0) ->
  (forall s p a, E (S s) p a = E s p a - update s (map (fun s' => g s' p a) (below (S s)))) ->
  forall s p a, (n <= p)%nat -> E s p a = E 0%nat p a.
Proof.
  intros T cost texts update E g n Short Grad Rule Step s p a P.
  induction s as [|s IH]; auto. rewrite Step, IH, Rule; [ring|].
  (* all derivatives so far are 0 *)
  intros x I. apply in_map_iff in I. destruct I as [s' [<- _]].
  eapply uniqueness_limite; [apply Grad|].
  now apply (rows_beyond_the_texts_get_no_gradient T (cost s') (texts s') n (Short s')).
Qed.
