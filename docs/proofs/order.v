(** * The problem: Theorems 4.1 to 4.3 *)

From Coq Require Import Reals List Permutation Lra Lia ZArith.
From Book Require Import definitions.
Import ListNotations.
Open Scope R_scope.

(** ** The root *)

Section Expectation.

(** A random number is a function of chance, and [E] its expected value: linear, and 1 for the
    number 1. *)
Variable chance : Type.
Variable E : (chance -> R) -> R.

Definition linear : Prop :=
  (forall X Y, (forall c, X c = Y c) -> E X = E Y) /\
  (forall X Y, E (fun c => X c + Y c) = E X + E Y) /\
  (forall a X, E (fun c => a * X c) = a * E X) /\
  E (fun _ => 1) = 1.

Definition variance (X : chance -> R) : R := E (fun c => (X c - E X) ^ 2).

(** The product of random numbers, each with a power. *)
Definition powers (l : list ((chance -> R) * nat)) (c : chance) : R :=
  fold_right (fun Xe rest => fst Xe c ^ snd Xe * rest) 1 l.

(** Independent: the expected value of a product of powers of different entries is the product of
    the expected values. First and second powers are enough here. [X i] are all the entries, of
    query and key. *)
Definition independent (X : nat -> chance -> R) (n : nat) : Prop :=
  forall l : list (nat * nat),
  NoDup (map fst l) -> (forall i e, In (i, e) l -> (i < n)%nat /\ (1 <= e <= 2)%nat) ->
  E (powers (map (fun ie => (X (fst ie), snd ie)) l)) =
  fold_right (fun ie rest => E (fun c => X (fst ie) c ^ snd ie) * rest) 1 l.

End Expectation.

(** Theorem 4.1 (the root): let the entries of a query [q] and a key [k] of width [d] be
    independent, with mean 0 and variance 1. Here [X] lists them: those of [q], then those of [k].
    *)
Theorem dot_product_has_variance_d : forall (chance : Type) (E : (chance -> R) -> R) X d,
  linear chance E -> independent chance E X (2 * d) ->
  (forall i, (i < 2 * d)%nat -> E (X i) = 0 /\ variance chance E (X i) = 1) ->
  let score := fun c => sum (fun a => X a c * X (d + a)%nat c) (below d) in
  E score = 0 /\ variance chance E score = INR d /\
  (d <> 0%nat -> variance chance E (fun c => score c / sqrt (INR d)) = 1).
Proof.
  intros chance E X d [Ext [Add [Scal One]]] Ind Std score.
  (* the mean square of an entry is its variance *)
  assert (Sq : forall i, (i < 2 * d)%nat -> E (fun c => X i c ^ 2) = 1).
  { intros i I. destruct (Std i I) as [M V]. rewrite <- V. unfold variance. rewrite M.
    apply Ext. intros; ring. }
  assert (P1 : forall i, (i < 2 * d)%nat -> E (fun c => X i c ^ 1) = 0).
  { intros i I. destruct (Std i I) as [M V]. rewrite <- M. apply Ext. intros; ring. }
  (* a product of query and key has mean 0 and mean square 1, *)
  assert (Mean : forall a, (a < d)%nat -> E (fun c => X a c * X (d + a)%nat c) = 0).
  { intros a A. rewrite (Ext _ (powers chance [(X a, 1%nat); (X (d + a)%nat, 1%nat)]))
      by (intros; unfold powers; simpl; ring).
    etransitivity; [apply (Ind [(a, 1%nat); (d + a, 1)%nat])
      |cbn [fold_right fst snd]].
    - repeat constructor; simpl; intuition lia.
    - intros i e [H|[H|[]]]; inversion H; lia.
    - rewrite P1 by lia. ring. }
  assert (Square : forall a, (a < d)%nat -> E (fun c => (X a c * X (d + a)%nat c) ^ 2) = 1).
  { intros a A. rewrite (Ext _ (powers chance [(X a, 2%nat); (X (d + a)%nat, 2%nat)]))
      by (intros; unfold powers; simpl; ring).
    etransitivity; [apply (Ind [(a, 2%nat); (d + a, 2)%nat])|cbn [fold_right fst snd]].
    - repeat constructor; simpl; intuition lia.
    - intros i e [H|[H|[]]]; inversion H; lia.
    - rewrite !Sq by lia. ring. }
  (* and two of them are uncorrelated *)
  assert (Mixed : forall a b, (a < d)%nat -> (b < a)%nat ->
    E (fun c => (X b c * X (d + b)%nat c) * (X a c * X (d + a)%nat c)) = 0).
  { intros a b A B. rewrite (Ext _ (powers chance
      [(X b, 1%nat); (X (d + b)%nat, 1%nat); (X a, 1%nat); (X (d + a)%nat, 1%nat)]))
      by (intros; unfold powers; simpl; ring).
    etransitivity;
      [apply (Ind [(b, 1%nat); (d + b, 1)%nat; (a, 1%nat); (d + a, 1)%nat])
      |cbn [fold_right fst snd]].
    - repeat constructor; simpl; intuition lia.
    - intros i e [H|[H|[H|[H|[]]]]]; inversion H; lia.
    - rewrite P1 by lia. ring. }
  set (term := fun a c => X a c * X (d + a)%nat c) in *.
  (* so the terms' variances add up *)
  assert (Zero : E (fun _ => 0) = 0).
  { rewrite (Ext _ (fun c => 0 * 1)), Scal by (intros; ring). ring. }
  assert (Partial : forall n, (n <= d)%nat ->
    E (fun c => sum (fun a => term a c) (below n)) = 0 /\
    E (fun c => (sum (fun a => term a c) (below n)) ^ 2) = INR n /\
    (forall a, (n <= a)%nat -> (a < d)%nat ->
       E (fun c => sum (fun b => term b c) (below n) * term a c) = 0)).
  { induction n as [|n IH]; intros N.
    - split; [exact Zero|]. split.
      + rewrite (Ext _ (fun _ => 0)) by (intros; simpl; ring). exact Zero.
      + intros a _ _. rewrite (Ext _ (fun _ => 0)) by (intros; simpl; ring). exact Zero.
    - destruct IH as [M [V C]]; [lia|]. split; [|split].
      + rewrite (Ext _ (fun c => sum (fun a => term a c) (below n) + term n c))
          by (intros; apply sum_S).
        rewrite Add, M. unfold term. rewrite Mean by lia. ring.
      + rewrite (Ext _ (fun c => (sum (fun a => term a c) (below n)) ^ 2 +
          (2 * (sum (fun a => term a c) (below n) * term n c) + term n c ^ 2)))
          by (intros; rewrite sum_S; ring).
        rewrite !Add, Scal, V, (C n) by lia. unfold term. rewrite Square by lia.
        rewrite S_INR. ring.
      + intros a A D.
        rewrite (Ext _ (fun c => sum (fun b => term b c) (below n) * term a c +
          term n c * term a c)) by (intros; rewrite sum_S; ring).
        rewrite Add, (C a) by lia. unfold term. rewrite Mixed by lia. ring. }
  destruct (Partial d (le_n d)) as [M [V _]]. change (E score = 0) in M.
  assert (Var : variance chance E score = INR d).
  { rewrite <- V. unfold variance. rewrite M. apply Ext. intros; unfold score, term; ring. }
  split; [exact M|]. split; [exact Var|].
  (* dividing by the root divides the variance by d *)
  intros D. assert (P : 0 < INR d) by (apply lt_0_INR; lia).
  unfold variance.
  rewrite (Ext (fun c => score c / sqrt (INR d)) (fun c => / sqrt (INR d) * score c))
    by (intros; unfold Rdiv; ring).
  rewrite Scal, M.
  rewrite (Ext _ (fun c => / INR d * (score c - E score) ^ 2)).
  - rewrite Scal. unfold variance in Var. rewrite Var. field. lra.
  - intros c. rewrite M.
    assert (Q : sqrt (INR d) * sqrt (INR d) = INR d) by (apply sqrt_sqrt; lra).
    assert (NZ : sqrt (INR d) <> 0) by now apply Rgt_not_eq, sqrt_lt_R0.
    rewrite <- Q. rewrite Q at 1 2. field. exact NZ.
Qed.

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
  rewrite (nth_indep (map (fun t => F t x) x) t0 (F t0 x)) by now rewrite size_map.
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
  { apply lt_0_INR. rewrite !size_app. simpl. lia. }
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

Lemma masked_ext : forall (U V : Type) (f g : list U -> U -> V) x before,
  (forall B t, f B t = g B t) -> masked f before x = masked g before x.
Proof. induction x as [|t x IH]; simpl; intros; auto. now rewrite H, IH. Qed.

Lemma sum_map : forall (U V : Type) (h : U -> V) (f : V -> R) l,
  sum f (map h l) = sum (fun u => f (h u)) l.
Proof. induction l as [|u l IH]; simpl; auto. now rewrite IH. Qed.

Definition means {U : Type} (vs : list (U -> R)) (B : list U) : list R :=
  map (fun v => sum v B / INR (length B)) vs.

(** The mean over all places of the share of [u] in the past of a place. *)
Definition mean_share (u : T) (z : list T) : R :=
  sum (fun i => sum (is u) (past z i) / INR (S i)) (below (length z)) / INR (length z).

(** What the two layers leave at the last place: for each token of [x], the mean of its shares. *)
Lemma two_layers : forall x z d, z <> [] ->
  last (masked (output (mean (length x))) [] (masked (output (shares x)) [] z)) d =
  map (fun u => mean_share u z) x.
Proof.
  intros x z d N.
  (* both layers take means *)
  rewrite (masked_ext _ _ (output (shares x)) (fun B _ => means (map is x) B))
    by (intros; apply map_ext; intros; apply attend_mean).
  rewrite (masked_ext _ _ (output (mean (length x)))
             (fun B _ => means (map (fun a l => nth a l 0) (below (length x))) B))
    by (intros; apply map_ext; intros; apply attend_mean).
  rewrite (masked_places _ _ (means (map is x))). simpl app.
  set (w := map (fun i => means (map is x) (past z i)) (below (length z))).
  assert (L : length w = length z)
    by (unfold w, below; now rewrite size_map, size_seq).
  assert (W : w <> []) by (destruct z, w; simpl in *; congruence).
  (* the last place sees all *)
  destruct (@exists_last _ w W) as [w' [l E]]. rewrite E, masked_last. simpl app.
  rewrite <- E. unfold means at 1. rewrite L.
  (* token by token *)
  destruct x as [|t x]; auto. remember (t :: x) as y eqn:Y.
  rewrite <- (reorder_itself T t y) at 2. unfold reorder. rewrite !map_map.
  apply map_ext_in. intros a A. apply in_seq in A.
  unfold mean_share, w. f_equal. rewrite sum_map. apply sum_below. intros i I.
  unfold means. rewrite map_map.
  rewrite (nth_indep _ 0 (sum (is t) (past z i) / INR (length (past z i))))
    by (rewrite size_map; lia).
  rewrite (map_nth (fun u => sum (is u) (past z i) / INR (length (past z i)))).
  do 2 f_equal. unfold past. rewrite size_firstn. lia.
Qed.

Lemma nodup_front : forall (U : Type) (l l' : list U), NoDup (l ++ l') -> NoDup l.
Proof.
  induction l as [|u l IH]; intros l' D; [constructor|].
  simpl in D. inversion D; subst. constructor; [|now apply (IH l')].
  intros I. apply H1. apply in_or_app. now left.
Qed.

(** Theorem 4.3 (c): there are two layers after which the output at the last place is different for
    every order of the tokens before it. *)
Theorem two_masked_layers_tell_every_order : forall (x : list T) (t : T),
  NoDup (x ++ [t]) ->
  exists (one : head T) (two : head (list R)),
  forall y z, Permutation y x -> Permutation z x -> y <> z ->
  last (masked (output two) [] (masked (output one) [] (y ++ [t]))) [] <>
  last (masked (output two) [] (masked (output one) [] (z ++ [t]))) [].
Proof.
  intros x t D. exists (shares x), (mean (length x)).
  intros y z Y Z N.
  assert (D' : NoDup x) by (apply NoDup_remove_1 in D; now rewrite app_nil_r in D).
  assert (DY : NoDup y) by now apply (Permutation_NoDup (Permutation_sym Y)).
  assert (P : Permutation y z) by (apply Permutation_trans with x; auto using Permutation_sym).
  assert (DZ : NoDup z) by now apply (Permutation_NoDup P).
  assert (DZt : NoDup (z ++ [t])).
  { apply (Permutation_NoDup (l := x ++ [t])); auto.
    apply Permutation_app_tail. now apply Permutation_sym. }
  (* a token [a] that [y] has earlier *)
  destruct (earlier_token y z DY P N) as [p [a [b [y' [z1 [z2 [EY [EZ [E [A B]]]]]]]]]].
  rewrite !two_layers by (destruct y, z; discriminate).
  intros M.
  assert (I : In a x).
  { apply (Permutation_in a Y). rewrite EY. apply in_elt. }
  assert (C : mean_share a (y ++ [t]) = mean_share a (z ++ [t])).
  { destruct (In_nth x a a I) as [k [K Ka]].
    assert (H := f_equal (fun l => nth k l (mean_share a (y ++ [t]))) M). simpl in H.
    rewrite (map_nth (fun u => mean_share u (y ++ [t]))), Ka in H.
    rewrite (nth_indep _ _ (mean_share a (z ++ [t]))) in H by now rewrite size_map.
    now rewrite (map_nth (fun u => mean_share u (z ++ [t]))), Ka in H. }
  (* has the larger mean of shares: *)
  assert (LE : length (y ++ [t]) = length (z ++ [t])).
  { rewrite !size_app. now rewrite (Permutation_length P). }
  unfold mean_share in C. rewrite LE in C.
  assert (LZ : 0 < INR (length (z ++ [t]))) by (apply lt_0_INR; rewrite size_app; simpl; lia).
  apply Rmult_eq_reg_r in C; [|now apply Rgt_not_eq, Rinv_0_lt_compat].
  set (cy := fun i => sum (is a) (past (y ++ [t]) i)).
  set (cz := fun i => sum (is a) (past (z ++ [t]) i)).
  change (sum (fun i => cy i / INR (S i)) (below (length (z ++ [t]))) =
          sum (fun i => cz i / INR (S i)) (below (length (z ++ [t])))) in C.
  (* at each place [a] counts at least as often in the past of [y] as in that of [z], *)
  assert (G : forall i, cz i <= cy i).
  { intros i. unfold cy, cz, past. destruct (le_lt_dec (S i) (length p)) as [S|S].
    - rewrite EY, EZ, <- !app_assoc, !firstn_app.
      replace (Datatypes.S i - length p)%nat with 0%nat by lia. apply Rle_refl.
    - apply Rle_trans with 1.
      + apply count_once.
        rewrite <- (firstn_skipn (Datatypes.S i) (z ++ [t])) in DZt.
        now apply nodup_front in DZt.
      + apply count_some. rewrite EY, <- app_assoc, firstn_app.
        apply in_or_app. right.
        destruct (Datatypes.S i - length p)%nat eqn:F; [lia|]. now left. }
  (* and at its own place in [y] more often *)
  set (j := length p) in *.
  assert (GJ : cz j = 0).
  { unfold cz, past. apply count_none. rewrite EZ, <- app_assoc, firstn_app.
    rewrite in_app_iff. intros [H|H].
    - apply A. rewrite <- (firstn_skipn (S j) p). apply in_or_app. now left.
    - replace (S j - length p)%nat with 1%nat in H by (unfold j; lia).
      simpl in H. intuition congruence. }
  assert (HJ : 1 <= cy j).
  { unfold cy, past. apply count_some. rewrite EY, <- app_assoc, firstn_app.
    apply in_or_app. right. replace (S j - length p)%nat with 1%nat by (unfold j; lia).
    now left. }
  assert (J : (j < length (z ++ [t]))%nat).
  { rewrite EZ, !size_app. simpl. unfold j. lia. }
  (* so the sums differ *)
  clearbody cy cz. clearbody j. revert J C. generalize (length (z ++ [t])) as n.
  assert (Pos : forall i, 0 < / INR (S i)) by (intros; apply Rinv_0_lt_compat, lt_0_INR; lia).
  assert (S0 : forall n, sum (fun i => cz i / INR (S i)) (below n) <=
                         sum (fun i => cy i / INR (S i)) (below n)).
  { intros n. apply sum_le. intros i _. apply Rmult_le_compat_r; [now apply Rlt_le|apply G]. }
  induction n as [|n IH]; intros J C; [lia|]. rewrite !sum_S in C.
  assert (Gn : cz n / INR (S n) <= cy n / INR (S n))
    by (apply Rmult_le_compat_r; [now apply Rlt_le|apply G]).
  specialize (S0 n).
  destruct (Nat.eq_dec j n) as [->|F].
  - assert (cz n / INR (S n) < cy n / INR (S n)); [|lra].
    apply Rmult_lt_compat_r; auto. lra.
  - apply IH; [lia|lra].
Qed.

End TokensThatAreAllDifferent.
