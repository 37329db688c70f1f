(** * The problem: Theorems 4.1 to 4.3 *)

From Coq Require Import Reals List Permutation Lra Lia ZArith.
From Book Require Import definitions.
Import ListNotations.
Open Scope R_scope.

(** ** Attention without mask and positions *)

(** What a token receives from a bag: no order of the bag changes it. *)
Lemma attend_perm : forall (T : Type) score value (x y : list T) t,
  Permutation x y -> attend score value x t = attend score value y t.
Proof.
  intros T score value x y t P. unfold attend.
  (* both sums run over the bag *)
  now rewrite (sum_perm _ (fun u => exp (score t u) * value u) _ _ P),
              (sum_perm _ (fun u => exp (score t u)) _ _ P).
Qed.

(** A head has a score of two tokens, and a value of one token in each of its dimensions. *)
Record head (T : Type) := { score : T -> T -> R; values : list (T -> R) }.
Arguments score {T}. Arguments values {T}.

(** What head [h] gives token [t] of the bag [B]. *)
Definition output {T : Type} (h : head T) (B : list T) (t : T) : list R :=
  map (fun value => attend (score h) value B t) (values h).

(** A layer has heads, and a step that makes the new token from the old one and the outputs of the
    heads: residual, norm and feed-forward are such steps. Without heads it works on every place
    alone. *)
Record layer (T : Type) := { heads : list (head T); step : T -> list (list R) -> T }.
Arguments heads {T}. Arguments step {T}.

Definition at_token {T : Type} (l : layer T) (B : list T) (t : T) : T :=
  step l t (map (fun h => output h B t) (heads l)).

(** All places of a text through one layer, and through any number of layers. *)
Definition run {T : Type} (l : layer T) (x : list T) : list T := map (at_token l x) x.

Fixpoint deep {T : Type} (ls : list (layer T)) (x : list T) : list T :=
  match ls with [] => x | l :: rest => deep rest (run l x) end.

Lemma at_token_perm : forall (T : Type) (l : layer T) B B' t,
  Permutation B B' -> at_token l B t = at_token l B' t.
Proof.
  intros T l B B' t P. unfold at_token, output. f_equal.
  apply map_ext; intros h. apply map_ext; intros v. now apply attend_perm.
Qed.

(** Theorem 4.2 (order is invisible): after any number of layers the output at a place is a function
    of the token there and of the bag of all tokens. *)
Theorem order_is_invisible : forall (T : Type) (ls : list (layer T)),
  exists F : T -> list T -> T,
    (forall t B B', Permutation B B' -> F t B = F t B') /\
    (forall x, deep ls x = map (fun t => F t x) x).
Proof.
  induction ls as [|l ls [F [Bag Out]]].
  - (* no layer: the token itself *)
    exists (fun t _ => t). split; auto. intros x. simpl. now rewrite map_id.
  - (* one more layer: its outputs are the tokens, and their bag the bag, of the rest *)
    exists (fun t B => F (at_token l B t) (run l B)). split.
    + intros t B B' P. rewrite (at_token_perm _ l B B' t P). apply Bag.
      unfold run. rewrite (map_ext _ (at_token l B')) by (intros; now apply at_token_perm).
      now apply Permutation_map.
    + intros x. simpl. rewrite Out. unfold run at 2. now rewrite map_map.
Qed.

(** The tokens [x] in the order that the list of places [order] gives; [t0] is never used. *)
Definition reorder {T : Type} (t0 : T) (order : list nat) (x : list T) : list T :=
  map (fun i => nth i x t0) order.

Lemma reorder_itself : forall (T : Type) (t0 : T) x, reorder t0 (below (length x)) x = x.
Proof.
  unfold reorder, below. induction x as [|t x IH]; auto.
  simpl. f_equal. rewrite <- seq_shift, map_map. exact IH.
Qed.

(** Theorem 4.2, its last sentence: reorder the tokens, and the outputs are reordered with them. *)
Theorem reordered_tokens_give_reordered_outputs :
  forall (T : Type) (t0 : T) (ls : list (layer T)) (x : list T) (order : list nat),
  Permutation order (below (length x)) ->
  deep ls (reorder t0 order x) = reorder t0 order (deep ls x).
Proof.
  intros T t0 ls x order P. destruct (order_is_invisible T ls) as [F [Bag Out]].
  (* the reordered text has the same bag *)
  assert (B : Permutation (reorder t0 order x) x).
  { rewrite <- (reorder_itself T t0 x) at 2. now apply Permutation_map. }
  rewrite !Out. unfold reorder at 2 3. rewrite map_map.
  apply map_ext_in. intros i I.
  (* [i] is a place of the text *)
  assert (J : (i < length x)%nat).
  { apply (Permutation_in i P) in I. apply in_seq in I. lia. }
  rewrite (nth_indep (map (fun t => F t x) x) t0 (F t0 x)) by now rewrite map_length.
  rewrite (map_nth (fun t => F t x)). now apply Bag.
Qed.

(** ** What a causal mask tells *)

(** Each place sees itself and the places before it. [f B t] is what token [t] makes of the tokens
    [B] that it sees; [before] holds the tokens already read. *)
Fixpoint masked {T U : Type} (f : list T -> T -> U) (before x : list T) : list U :=
  match x with
  | [] => []
  | t :: rest => f (before ++ [t]) t :: masked f (before ++ [t]) rest
  end.

Lemma masked_last : forall (T U : Type) (f : list T -> T -> U) x before t d,
  last (masked f before (x ++ [t])) d = f (before ++ x ++ [t]) t.
Proof.
  induction x as [|u x IH]; intros before t d; auto.
  simpl app. simpl masked.
  assert (N : masked f (before ++ [u]) (x ++ [t]) <> []) by (destruct x; discriminate).
  destruct (masked f (before ++ [u]) (x ++ [t])) as [|a l] eqn:E; [easy|].
  change (last (a :: l) d = f (before ++ u :: x ++ [t]) t).
  rewrite <- E, IH. now rewrite <- app_assoc.
Qed.

(** Theorem 4.3 (b): in a single layer, the output at the last place does not depend on the order of
    the tokens before it. *)
Theorem one_masked_layer_reads_its_past_as_a_bag :
  forall (T : Type) (l : layer T) (x y : list T) (t d : T), Permutation x y ->
  last (masked (at_token l) [] (x ++ [t])) d = last (masked (at_token l) [] (y ++ [t])) d.
Proof.
  intros T l x y t d P. rewrite !masked_last. simpl.
  (* the last place sees the whole bag *)
  apply at_token_perm. now apply Permutation_app_tail.
Qed.

Section TokensThatAreAllDifferent.

Variable T : Type.
(** Two tokens can be told apart. *)
Variable eq_dec : forall a b : T, {a = b} + {a <> b}.

(** Scores that are all 0, and a value that is 1 for [u] and 0 for all others. *)
Definition no_score {U : Type} (_ _ : U) : R := 0.
Definition is (u t : T) : R := if eq_dec u t then 1 else 0.

(** With scores that are all 0, attention is the mean of the values. *)
Lemma attend_mean : forall (U : Type) (v : U -> R) l t,
  attend no_score v l t = sum v l / INR (length l).
Proof.
  intros. unfold attend, no_score. rewrite exp_0, sum_const, Rmult_1_r. f_equal.
  apply sum_ext. intros; ring.
Qed.

Lemma count_none : forall u l, ~ In u l -> sum (is u) l = 0.
Proof.
  induction l as [|t l IH]; simpl; intros N; auto. rewrite IH by tauto.
  unfold is. destruct (eq_dec u t); [subst; tauto|ring].
Qed.

Lemma count_some : forall u l, In u l -> 1 <= sum (is u) l.
Proof.
  intros u l I. destruct (in_split u l I) as [a [b E]]. subst l.
  rewrite sum_app. simpl. unfold is at 2. destruct (eq_dec u u); [|easy].
  assert (P : forall m, 0 <= sum (is u) m).
  { intros m. apply sum_nonneg. intros t _. unfold is. destruct (eq_dec u t); lra. }
  pose proof (P a). pose proof (P b). lra.
Qed.

Lemma count_once : forall u l, NoDup l -> sum (is u) l <= 1.
Proof.
  induction 1 as [|t l N D IH]; simpl; [lra|].
  unfold is at 1. destruct (eq_dec u t); [subst; rewrite (count_none t l N)|]; lra.
Qed.

(** Two different orders differ at some first place. *)
Lemma first_difference : forall x y : list T,
  Permutation x y -> x <> y ->
  exists p a b x' y', x = p ++ a :: x' /\ y = p ++ b :: y' /\ a <> b.
Proof.
  induction x as [|a x IH]; intros y P D.
  - apply Permutation_nil in P. now subst.
  - destruct y as [|b y]; [now apply Permutation_sym, Permutation_nil in P|].
    destruct (eq_dec a b) as [E|E].
    + subst b. apply Permutation_cons_inv in P.
      destruct (IH y P) as [p [c [e [x' [y' [X [Y N]]]]]]]; [congruence|].
      exists (a :: p), c, e, x', y'. subst. auto.
    + now exists [], a, b, x, y.
Qed.

(** There, the first order has a token that the other one has later. *)
Lemma earlier_token : forall x y : list T,
  NoDup x -> Permutation x y -> x <> y ->
  exists p a b x' y1 y2, x = p ++ a :: x' /\ y = p ++ b :: y1 ++ a :: y2 /\
    a <> b /\ ~ In a p /\ ~ In b p.
Proof.
  intros x y D P N. destruct (first_difference x y P N) as [p [a [b [x' [y' [X [Y E]]]]]]].
  assert (A : ~ In a p).
  { subst x. apply NoDup_remove_2 in D. rewrite in_app_iff in D. tauto. }
  assert (B : ~ In b p).
  { apply (Permutation_NoDup P) in D. subst y.
    apply NoDup_remove_2 in D. rewrite in_app_iff in D. tauto. }
  assert (I : In a y').
  { assert (J : In a y) by (apply (Permutation_in a P); subst x; apply in_elt).
    subst y. rewrite in_app_iff in J. destruct J as [J|[J|J]]; [tauto|now subst b|auto]. }
  destruct (in_split a y' I) as [y1 [y2 S]]. subst y'.
  exists p, a, b, x', y1, y2. auto.
Qed.

(** Theorem 4.3 (a): for every order [y] but the given [x] there is a layer that gives some token
    [t] another output. *)
Theorem a_masked_layer_notices_every_other_order : forall x y : list T,
  NoDup x -> Permutation x y -> x <> y ->
  exists (score : T -> T -> R) (value : T -> R) (t : T) (x1 x2 y1 y2 : list T),
    x = x1 ++ t :: x2 /\ y = y1 ++ t :: y2 /\
    attend score value (x1 ++ [t]) t <> attend score value (y1 ++ [t]) t.
Proof.
  intros x y D P N.
  destruct (earlier_token x y D P N) as [p [t [u [x2 [m [y2 [X [Y [E [A B]]]]]]]]]].
  (* the value is 1 for [u], which comes before [t] in [y] and after it in [x] *)
  exists no_score, (is u), t, p, x2, (p ++ u :: m), y2.
  repeat split; [exact X|rewrite Y; now rewrite <- app_assoc|].
  rewrite !attend_mean, (count_none u (p ++ [t])).
  2: { rewrite in_app_iff. simpl. intuition congruence. }
  (* 0 in the given order, more in the other *)
  assert (S : 1 <= sum (is u) ((p ++ u :: m) ++ [t])).
  { apply count_some. rewrite !in_app_iff. simpl. auto. }
  assert (L : 0 < INR (length ((p ++ u :: m) ++ [t]))).
  { apply lt_0_INR. rewrite !app_length. simpl. lia. }
  unfold Rdiv at 1. rewrite Rmult_0_l. apply Rlt_not_eq.
  apply Rdiv_lt_0_compat; lra.
Qed.

(** The two layers of (c). In the first, a token receives the share of each token of [x] in its
    past; the second takes the mean of what the first gave. *)
Definition shares (x : list T) : head T := {| score := no_score; values := map is x |}.
Definition mean (n : nat) : head (list R) :=
  {| score := no_score; values := map (fun a l => nth a l 0) (below n) |}.

(** What a masked layer gives, place by place, where it does not look at the token itself. *)
Lemma masked_places : forall (U V : Type) (g : list U -> V) x before,
  masked (fun B _ => g B) before x =
  map (fun i => g (before ++ past x i)) (below (length x)).
Proof.
  unfold below. induction x as [|t x IH]; intros before; auto.
  simpl. f_equal. rewrite IH, <- seq_shift, map_map. apply map_ext. intros i.
  unfold past. now rewrite <- app_assoc.
Qed.

End TokensThatAreAllDifferent.
