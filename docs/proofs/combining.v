(** * Adding, concatenating, and where positions enter: Theorems 4.20 and 4.21 *)

From Coq Require Import Reals List Permutation Lra Lia ZArith.
From Book Require Import definitions order.
Import ListNotations.
Open Scope R_scope.

(** ** Four terms *)

(** Here vectors and matrices are functions of the dimension, and [bilinear n m A x y] is the
    product x^T A y for [x] of width [n] and [y] of width [m]. *)
Definition bilinear (n m : nat) (A : nat -> nat -> R) (x y : nat -> R) : R :=
  sum (fun a => x a * sum (fun b => A a b * y b) (below m)) (below n).

Definition plus (x y : nat -> R) : nat -> R := fun a => x a + y a.

Lemma bilinear_plus_left : forall n m A x P y,
  bilinear n m A (plus x P) y = bilinear n m A x y + bilinear n m A P y.
Proof.
  intros. unfold bilinear, plus. rewrite <- sum_plus. apply sum_below. intros. ring.
Qed.

Lemma bilinear_plus_right : forall n m A x y Q,
  bilinear n m A x (plus y Q) = bilinear n m A x y + bilinear n m A x Q.
Proof.
  intros. unfold bilinear, plus. rewrite <- sum_plus. apply sum_below. intros.
  rewrite <- Rmult_plus_distr_l, <- sum_plus. f_equal. apply sum_below. intros. ring.
Qed.

(** Theorem 4.20 (four terms): a score of sums is four scores. *)
Theorem a_score_of_sums_is_four_scores : forall d A x P y Q,
  bilinear d d A (plus x P) (plus y Q) =
  bilinear d d A x y + bilinear d d A x Q + bilinear d d A P y + bilinear d d A P Q.
Proof. intros. rewrite bilinear_plus_left, !bilinear_plus_right. ring. Qed.

(** The concatenation of [x], which has the width [d], and [P]. *)
Definition concat (d : nat) (x P : nat -> R) : nat -> R :=
  fun a => if Nat.ltb a d then x a else P (a - d)%nat.

(** The block of the matrix whose first row is [r] and whose first column is [c]. *)
Definition block_at (r c : nat) (A : nat -> nat -> R) : nat -> nat -> R :=
  fun a b => A (r + a)%nat (c + b)%nat.

Lemma sum_concat : forall d e f,
  sum f (below (d + e)) = sum f (below d) + sum (fun a => f (d + a)%nat) (below e).
Proof.
  intros. induction e as [|e IH].
  - rewrite Nat.add_0_r. simpl. ring.
  - rewrite Nat.add_succ_r, !sum_S, IH. ring.
Qed.

Lemma concat_first : forall d x P a, (a < d)%nat -> concat d x P a = x a.
Proof. intros. unfold concat. apply Nat.ltb_lt in H. now rewrite H. Qed.

Lemma concat_second : forall d x P a, concat d x P (d + a) = P a.
Proof.
  intros. unfold concat. replace (d + a <? d)%nat with false by (symmetry; apply Nat.ltb_ge; lia).
  f_equal. lia.
Qed.

(** Theorem 4.20, for concatenations: the same four terms, each with a block of its own, for tokens
    of width [d] and positions' vectors of width [e]. *)
Theorem a_score_of_concatenations_has_a_matrix_for_each_term : forall d e A x P y Q,
  bilinear (d + e) (d + e) A (concat d x P) (concat d y Q) =
  bilinear d d (block_at 0 0 A) x y + bilinear d e (block_at 0 d A) x Q +
  bilinear e d (block_at d 0 A) P y + bilinear e e (block_at d d A) P Q.
Proof.
  intros.
  (* a row of the matrix meets both parts of the second vector *)
  assert (Row : forall r, sum (fun b => A r b * concat d y Q b) (below (d + e)) =
    sum (fun b => A r b * y b) (below d) + sum (fun b => A r (d + b)%nat * Q b) (below e)).
  { intros r. rewrite sum_concat. f_equal; apply sum_below; intros.
    - now rewrite concat_first.
    - now rewrite concat_second. }
  unfold bilinear, block_at. rewrite sum_concat, Rplus_assoc. f_equal.
  - rewrite <- sum_plus. apply sum_below. intros a I. rewrite concat_first, Row by auto.
    simpl. ring.
  - rewrite <- sum_plus. apply sum_below. intros a I. rewrite concat_second, Row.
    simpl. ring.
Qed.

(** Only the first and the last are left if the matrix has no blocks off its diagonal. *)
Theorem without_other_blocks_two_terms_are_left : forall d e A x P y Q,
  (forall a b, (a < d)%nat -> (b < e)%nat -> A a (d + b)%nat = 0 /\ A (d + b)%nat a = 0) ->
  bilinear (d + e) (d + e) A (concat d x P) (concat d y Q) =
  bilinear d d (block_at 0 0 A) x y + bilinear e e (block_at d d A) P Q.
Proof.
  intros d e A x P y Q Z. rewrite a_score_of_concatenations_has_a_matrix_for_each_term.
  assert (Zero : forall n m B u v, (forall a b, (a < n)%nat -> (b < m)%nat -> B a b = 0) ->
    bilinear n m B u v = 0).
  { intros n m B u v Off. unfold bilinear. rewrite (sum_below _ (fun _ => 0)).
    - rewrite sum_below_const. ring.
    - intros a I. rewrite (sum_below _ (fun _ => 0)).
      + rewrite sum_below_const. ring.
      + intros b J. rewrite Off by auto. ring. }
  rewrite (Zero d e), (Zero e d); [ring| |]; intros a b I J; unfold block_at; apply Z; auto.
Qed.

(** ** Equal tokens *)

(** A head whose scores know the places: [at_places i j t u] is the score of the query [t] at place
    [i] for the key [u] at place [j], with rotations and biases of any kind. The values know the
    token alone. *)
Record placed_head (T : Type) :=
  { at_places : nat -> nat -> T -> T -> R; token_values : list (T -> R) }.
Arguments at_places {T}. Arguments token_values {T}.

(** A layer of such heads: [sees i j] says whether the mask lets place [i] see place [j]. *)
Record placed_layer (T : Type) :=
  { sees : nat -> nat -> bool;
    placed_heads : list (placed_head T);
    next : T -> list (list R) -> T }.
Arguments sees {T}. Arguments placed_heads {T}. Arguments next {T}.

(** What a layer makes of place [i] in a text of [n] tokens; [x j] is the token at place [j]. *)
Definition at_place {T : Type} (l : placed_layer T) (n : nat) (x : nat -> T) (i : nat) : T :=
  next l (x i)
    (map (fun h => map (fun value =>
       attend (fun i j => at_places h i j (x i) (x j)) (fun j => value (x j))
              (filter (sees l i) (below n)) i) (token_values h)) (placed_heads l)).

Fixpoint placed_deep {T : Type} (ls : list (placed_layer T)) (n : nat) (x : nat -> T) : nat -> T :=
  match ls with [] => x | l :: rest => placed_deep rest n (at_place l n x) end.

(** If all values are the same, they are the output, whatever the weights. *)
Lemma attend_equal_values : forall (T : Type) score value (x : list T) t v,
  x <> [] -> (forall u, In u x -> value u = v) -> attend score value x t = v.
Proof.
  intros T score value x t v N E. unfold attend.
  rewrite (sum_ext _ _ (fun u => v * exp (score t u))) by (intros u I; rewrite E by auto; ring).
  rewrite sum_scal. field. apply Rgt_not_eq, sum_pos; auto. intros; apply exp_pos.
Qed.

(** Theorem 4.21 (equal tokens): if all tokens of a text are [t] and every place sees itself, then
    after all layers every place has the same [t'], whatever the length [n] of the text. *)
Theorem equal_tokens_stay_equal : forall (T : Type) (ls : list (placed_layer T)),
  (forall l, In l ls -> forall i, sees l i i = true) ->
  forall t : T, exists t' : T, forall n x, (forall i, (i < n)%nat -> x i = t) ->
    forall i, (i < n)%nat -> placed_deep ls n x i = t'.
Proof.
  induction ls as [|l ls IH]; intros Self t.
  - exists t. auto.
  - (* one layer leaves all places with the same token, which does not depend on the length, *)
    set (u := next l t (map (fun h => map (fun value => value t) (token_values h))
                            (placed_heads l))).
    destruct (IH (fun l' I => Self l' (or_intror I)) u) as [t' Rest].
    exists t'. intros n x Eq i I. simpl. apply Rest; auto.
    intros j J. unfold at_place, u. rewrite (Eq j J). f_equal.
    apply map_ext. intros h. apply map_ext. intros value.
    apply attend_equal_values.
    + (* the place itself is seen *)
      intros Z. assert (In j (filter (sees l j) (below n))); [|now rewrite Z in H].
      apply filter_In. split; [apply in_seq; lia|]. apply Self. now left.
    + intros k K. apply filter_In in K. destruct K as [K _]. apply in_seq in K.
      rewrite Eq; auto. lia.
Qed.

(** With rows added to the tokens this need not be so: two equal tokens [t] under a causal mask. *)
Theorem rows_added_can_separate_equal_tokens : forall t : R,
  exists (row : nat -> R) (score : R -> R -> R) (value : R -> R),
  let x := [t + row 0%nat; t + row 1%nat] in
  attend score value (past x 0) (t + row 0%nat) <> attend score value (past x 1) (t + row 1%nat).
Proof.
  intros t. exists INR, (fun _ _ => 0), (fun z => z). unfold past, attend. simpl.
  rewrite exp_0. intros H. field_simplify in H. lra.
Qed.
