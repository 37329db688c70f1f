(** * Biases: Theorems 4.17 to 4.19 *)

From Coq Require Import Reals List Permutation Lra Lia ZArith.
From Book Require Import definitions.
Import ListNotations.
Open Scope R_scope.

(** ** A relative bias is a row *)

(** [B i j] for [n] queries and [m] keys depends on [j - i] alone. *)
Definition relative (n m : nat) (B : nat -> nat -> R) : Prop :=
  forall i j i' j', (i < n)%nat -> (j < m)%nat -> (i' < n)%nat -> (j' < m)%nat ->
  (Z.of_nat j - Z.of_nat i = Z.of_nat j' - Z.of_nat i')%Z -> B i j = B i' j'.

(** Theorem 4.17 (a relative bias is a row): so it is if and only if a diagonal step never changes
    it. *)
Theorem relative_if_diagonal_steps_change_nothing : forall n m B,
  relative n m B <->
  (forall i j, (S i < n)%nat -> (S j < m)%nat -> B (S i) (S j) = B i j).
Proof.
  intros n m B. split.
  - intros Rel i j I J. apply Rel; lia.
  - intros Step.
    (* k steps along the diagonal change nothing *)
    assert (Walk : forall k i j, (i + k < n)%nat -> (j + k < m)%nat ->
      B (i + k)%nat (j + k)%nat = B i j).
    { induction k as [|k IH]; intros i j I J; [now rewrite !Nat.add_0_r|].
      rewrite !Nat.add_succ_r, Step by lia. apply IH; lia. }
    intros i j i' j' I J I' J' E. destruct (Nat.le_gt_cases i i') as [L|L].
    + replace i' with (i + (i' - i))%nat by lia. replace j' with (j + (i' - i))%nat by lia.
      symmetry. apply Walk; lia.
    + replace i with (i' + (i - i'))%nat by lia. replace j with (j' + (i - i'))%nat by lia.
      apply Walk; lia.
Qed.

(** Theorem 4.17, the count: different entries are at most n + m - 1. *)
Theorem a_relative_bias_holds_few_numbers : forall n m B, relative n m B ->
  (0 < n)%nat -> (0 < m)%nat ->
  forall numbers : list R, NoDup numbers ->
  (forall x, In x numbers -> exists i j, (i < n)%nat /\ (j < m)%nat /\ x = B i j) ->
  (length numbers <= n + m - 1)%nat.
Proof.
  intros n m B Rel N M numbers D Entries.
  (* the number of lag u - (n - 1), read off the first column or the first row *)
  pose (row := map (fun u => B (n - 1 - u)%nat (u - (n - 1))%nat) (below (n + m - 1))).
  replace (n + m - 1)%nat with (length row)
    by (unfold row, below; now rewrite size_map, size_seq).
  apply NoDup_incl_length; auto. intros x I.
  destruct (Entries x I) as [i [j [In_n [In_m ->]]]].
  apply in_map_iff. exists (j + (n - 1) - i)%nat. split.
  - apply Rel; lia.
  - apply in_seq. lia.
Qed.

(** Over a window of M x M places, where the bias of two places depends on their two offsets alone,
    different entries are at most (2 M - 1)^2. *)
Theorem a_window_bias_holds_few_numbers : forall M (B : nat -> nat -> nat -> nat -> R),
  (forall y x y' x' v u v' u',
     (y < M)%nat -> (x < M)%nat -> (y' < M)%nat -> (x' < M)%nat ->
     (v < M)%nat -> (u < M)%nat -> (v' < M)%nat -> (u' < M)%nat ->
     (Z.of_nat y' - Z.of_nat y = Z.of_nat v' - Z.of_nat v)%Z ->
     (Z.of_nat x' - Z.of_nat x = Z.of_nat u' - Z.of_nat u)%Z -> B y x y' x' = B v u v' u') ->
  forall numbers : list R, NoDup numbers ->
  (forall z, In z numbers -> exists y x y' x',
     (y < M)%nat /\ (x < M)%nat /\ (y' < M)%nat /\ (x' < M)%nat /\ z = B y x y' x') ->
  (length numbers <= (2 * M - 1) * (2 * M - 1))%nat.
Proof.
  intros M B Rel numbers D Entries.
  pose (square := map (fun vu : nat * nat => let (v, u) := vu in
      B (M - 1 - v)%nat (M - 1 - u)%nat (v - (M - 1))%nat (u - (M - 1))%nat)
    (list_prod (below (2 * M - 1)) (below (2 * M - 1)))).
  replace ((2 * M - 1) * (2 * M - 1))%nat with (length square)
    by (unfold square, below; now rewrite size_map, size_prod, !size_seq).
  apply NoDup_incl_length; auto. intros z I.
  destruct (Entries z I) as [y [x [y' [x' [Y [X [Y' [X' ->]]]]]]]].
  apply in_map_iff. exists ((y' + (M - 1) - y)%nat, (x' + (M - 1) - x)%nat). split.
  - apply Rel; lia.
  - apply in_prod; apply in_seq; lia.
Qed.

(** ** What softmax cannot see *)

(** What query [i] of [n] receives, with the bias [B], from the keys that the mask [sees] lets
    through. The contents are queries and keys of width [d], and values. *)
Definition biased (d n : nat) (q k : nat -> nat -> R) (v : nat -> R)
  (sees : nat -> nat -> bool) (B : nat -> nat -> R) (i : nat) : R :=
  attend (fun i j => sum (fun a => q i a * k j a) (below d) / sqrt (INR d) + B i j) v
         (filter (sees i) (below n)) i.

(** A constant added to all scores of a row cancels. *)
Lemma constant_cancels : forall (T : Type) (s s' : T -> T -> R) v x t c,
  x <> [] -> (forall u, In u x -> s' t u = s t u + c) -> attend s' v x t = attend s v x t.
Proof.
  intros T s s' v x t c N E. unfold attend.
  rewrite (sum_ext _ (fun u => exp (s' t u) * v u) (fun u => exp c * (exp (s t u) * v u)))
    by (intros u I; rewrite E, exp_plus by auto; ring).
  rewrite (sum_ext _ (fun u => exp (s' t u)) (fun u => exp c * exp (s t u)))
    by (intros u I; rewrite E, exp_plus by auto; ring).
  rewrite !sum_scal. field. split.
  - apply Rgt_not_eq, sum_pos; auto. intros; apply exp_pos.
  - apply Rgt_not_eq, exp_pos.
Qed.

(** Theorem 4.18 (what softmax cannot see): two biases give the same attention for all contents if
    and only if each row of B - C is constant on the keys that the mask lets through. *)
Theorem only_row_constants_are_invisible : forall d n sees B C,
  (forall q k v i, (i < n)%nat -> biased d n q k v sees B i = biased d n q k v sees C i) <->
  (forall i j l, (i < n)%nat -> (j < n)%nat -> (l < n)%nat ->
     sees i j = true -> sees i l = true -> B i j - C i j = B i l - C i l).
Proof.
  intros d n sees B C. split.
  - intros Same i j l I J L Sj Sl.
    (* contents whose scores are all 0; the value is 1 for one key *)
    pose (zero := fun _ _ : nat => 0).
    set (x := filter (sees i) (below n)).
    assert (Score : forall D : nat -> nat -> R, forall u,
      sum (fun a => zero i a * zero u a) (below d) / sqrt (INR d) + D i u = D i u).
    { intros D u. unfold zero. rewrite (sum_below _ (fun _ => 0)) by (intros; ring).
      rewrite sum_below_const. unfold Rdiv. ring. }
    assert (In_x : forall u, (u < n)%nat -> sees i u = true -> In u x).
    { intros u U S. apply filter_In. split; auto. apply in_seq. lia. }
    assert (Nx : x <> []) by (intros Z; specialize (In_x j J Sj); now rewrite Z in In_x).
    pose (total := fun D : nat -> nat -> R => sum (fun u => exp (D i u)) x).
    assert (PosT : forall D, 0 < total D) by (intros; apply sum_pos; auto using exp_pos).
    (* a weight under both biases *)
    assert (Weight : forall u, (u < n)%nat -> sees i u = true ->
      exp (B i u) / total B = exp (C i u) / total C).
    { intros u U S.
      assert (One : forall D,
        biased d n zero zero (fun t => if Nat.eqb t u then 1 else 0) sees D i =
        exp (D i u) / total D).
      { intros D. unfold biased, attend. fold x.
        rewrite (sum_ext _ (fun t => exp (sum (fun a => zero i a * zero t a) (below d) /
          sqrt (INR d) + D i t)) (fun t => exp (D i t))) by (intros; now rewrite Score).
        rewrite (sum_ext _ (fun t => exp (sum (fun a => zero i a * zero t a) (below d) /
          sqrt (INR d) + D i t) * (if Nat.eqb t u then 1 else 0))
          (fun t => if Nat.eqb t u then exp (D i u) else 0)).
        2: { intros t _. rewrite Score. destruct (Nat.eqb_spec t u); [subst|]; ring. }
        fold (total D). f_equal.
        assert (ND : NoDup x) by (apply NoDup_filter, seq_NoDup).
        specialize (In_x u U S). clear -In_x ND.
        induction x as [|t y IH]; [easy|]. inversion ND; subst. simpl.
        destruct (Nat.eqb_spec t u) as [->|D'].
        - rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring|].
          intros s Is. destruct (Nat.eqb_spec s u); [subst; easy|auto].
        - rewrite IH; auto; [ring|]. destruct In_x; [congruence|auto]. }
      rewrite <- (One B), <- (One C). now apply Same. }
    (* its logarithm *)
    assert (Diff : forall u, (u < n)%nat -> sees i u = true ->
      B i u - C i u = ln (total B / total C)).
    { intros u U S. specialize (Weight u U S). pose proof (PosT B). pose proof (PosT C).
      rewrite <- (ln_exp (B i u - C i u)). f_equal.
      unfold Rminus. rewrite exp_plus, exp_Ropp.
      pose proof (exp_pos (C i u)).
      apply Rmult_eq_reg_r with (exp (C i u) * / total B);
        [|apply Rgt_not_eq, Rmult_lt_0_compat; auto; now apply Rinv_0_lt_compat].
      transitivity (exp (B i u) / total B); [field; lra|]. rewrite Weight. field. lra. }
    rewrite (Diff j), (Diff l); auto.
  - intros Row q k v i I. unfold biased.
    remember (filter (sees i) (below n)) as x eqn:X. destruct x as [|u x]; [reflexivity|].
    assert (Seen : forall t, In t (u :: x) -> (t < n)%nat /\ sees i t = true).
    { rewrite X. intros t T. apply filter_In in T. destruct T as [T S].
      apply in_seq in T. split; auto. lia. }
    destruct (Seen u) as [U Su]; [now left|].
    apply constant_cancels with (c := B i u - C i u); [discriminate|].
    intros t T. destruct (Seen t T) as [L St].
    rewrite (Row i u t) by auto. ring.
Qed.

(** So under a causal mask ALiBi may be added as a number that depends on the key alone. *)
Theorem alibi_may_be_added_by_key_alone : forall d n m q k v i, (i < n)%nat ->
  let causal := fun i j => Nat.leb j i in
  biased d n q k v causal (fun i j => - m * (INR i - INR j)) i =
  biased d n q k v causal (fun i j => m * INR j) i.
Proof.
  intros d n m q k v i I causal. revert q k v i I.
  apply only_row_constants_are_invisible. intros. ring.
Qed.

(** ** Windows *)

(** The scores of one query in a head of slope [m], by the distance [t] of the key: [a t] before the
    bias. *)
Definition alibi (m : R) (a : nat -> R) (_ t : nat) : R := a t - m * INR t.

(** The distances r + 1, ..., T. *)
Definition beyond (r T : nat) : list nat := seq (S r) (T - r).

(** Theorem 4.19 (windows): the keys at distances 0 to [T] have scores in a range of width [S]
    before the bias. Then those more than [r] behind have at most e^(S - m (r + 1)) of the weight.
    *)
Theorem almost_nothing_beyond_the_window : forall m a S r T,
  (forall t t', (t <= T)%nat -> (t' <= T)%nat -> a t - a t' <= S) ->
  sum (weight (alibi m a) (below (T + 1)) 0%nat) (beyond r T) <= exp (S - m * INR (r + 1)).
Proof.
  intros m a S r T Range.
  set (e := fun t => exp (alibi m a 0%nat t)).
  set (all := sum e (below (T + 1))).
  assert (Pos : 0 < all).
  { apply sum_pos; [|intros; apply exp_pos]. rewrite Nat.add_1_r. discriminate. }
  (* each far key is held against the one r + 1 positions nearer *)
  assert (Near : forall u, In u (below (T - r)) ->
    e (r + 1 + u)%nat <= exp (S - m * INR (r + 1)) * e u).
  { intros u U. apply in_seq in U. unfold e, alibi. rewrite <- exp_plus.
    assert (G : a (r + 1 + u)%nat - a u <= S) by (apply Range; lia).
    rewrite !plus_INR. simpl INR.
    destruct (Rle_lt_or_eq_dec (a (r + 1 + u)%nat - m * (INR r + 1 + INR u))
      (S - m * (INR r + 1) + (a u - m * INR u))) as [L|L]; [lra| |].
    - now apply Rlt_le, exp_increasing.
    - right. now f_equal. }
  assert (Far : sum e (beyond r T) <= exp (S - m * INR (r + 1)) * all).
  { replace (sum e (beyond r T)) with (sum (fun u => e (r + 1 + u)%nat) (below (T - r))).
    - apply Rle_trans with (1 := sum_le _ _ _ _ Near). rewrite sum_scal.
      apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|]. unfold all, below.
      replace (T + 1)%nat with ((T - r) + (T + 1 - (T - r)))%nat by lia.
      rewrite seq_app, sum_app.
      assert (0 <= sum e (seq (0 + (T - r)) (T + 1 - (T - r)))); [|lra].
      apply sum_nonneg. intros; apply Rlt_le, exp_pos.
    - unfold beyond. rewrite sum_from. apply sum_below. intros. f_equal. lia. }
  unfold weight.
  change (sum (fun u => e u / all) (beyond r T) <= exp (S - m * INR (r + 1))).
  rewrite (sum_ext _ _ (fun u => / all * e u)) by (intros; unfold Rdiv; apply Rmult_comm).
  rewrite sum_scal. apply Rmult_le_reg_l with all; auto.
  rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. lra.
Qed.

(** If the scores are all equal, the key at distance [t] has e^(-m t) times the weight of the
    query's own key, *)
Theorem weights_of_equal_scores_fall_geometrically : forall m c x t,
  weight (alibi m (fun _ => c)) x 0%nat t =
  exp (- m * INR t) * weight (alibi m (fun _ => c)) x 0%nat 0%nat.
Proof.
  intros. unfold weight, alibi.
  replace (c - m * INR t) with (- m * INR t + (c - m * INR 0)) by (simpl; ring).
  rewrite exp_plus. unfold Rdiv. ring.
Qed.

(** and with an endless past the weight of that key is 1 - e^(-m): so near is it from some length
    on. *)
Theorem own_weight_with_an_endless_past : forall m c, 0 < m ->
  Un_cv (fun T => weight (alibi m (fun _ => c)) (below (T + 1)) 0%nat 0%nat) (1 - exp (- m)).
Proof.
  intros m c M. set (z := exp (- m)).
  assert (Z : 0 < z < 1).
  { unfold z. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra. }
  assert (Power : forall t, exp (c - m * INR t) = exp c * z ^ t).
  { induction t as [|t IH].
    - simpl. rewrite Rmult_0_r, Rminus_0_r. ring.
    - rewrite S_INR. replace (c - m * (INR t + 1)) with ((c - m * INR t) + - m) by ring.
      rewrite exp_plus, IH. fold z. simpl. ring. }
  (* the sum of a geometric sequence *)
  assert (Geo : forall n, (1 - z) * sum (fun t => z ^ t) (below n) = 1 - z ^ n).
  { induction n as [|n IH]; [simpl; ring|]. rewrite sum_S, Rmult_plus_distr_l, IH. simpl. ring. }
  assert (PosZ : forall n, 0 < z ^ n) by (intros; apply pow_lt; lra).
  intros eps Eps. destruct (pow_lt_1_zero z) with (y := eps) as [N Small];
    [rewrite Rabs_pos_eq; lra|auto|].
  exists N. intros T L. specialize (Small (S T)).
  assert (G : z ^ S T < eps)
    by (rewrite <- (Rabs_pos_eq (z ^ S T)); [apply Small; lia|now apply Rlt_le]).
  clear Small. rewrite Nat.add_1_r.
  set (total := sum (fun t => z ^ t) (below (S T))).
  assert (W : weight (alibi m (fun _ => c)) (below (S T)) 0%nat 0%nat = / total).
  { unfold weight, alibi.
    rewrite (sum_ext _ _ (fun t => exp c * z ^ t)) by (intros; apply Power).
    rewrite sum_scal, Power.
    change (exp c * z ^ 0 / (exp c * total) = / total).
    assert (Pt : 0 < total) by (apply sum_pos; [discriminate|exact PosZ]).
    pose proof (exp_pos c). simpl pow. field. lra. }
  rewrite W. unfold R_dist. specialize (Geo (S T)). fold total in Geo.
  assert (Pt : 1 <= total).
  { unfold total, below. simpl. assert (0 <= sum (fun t => z ^ t) (seq 1 T)); [|lra].
    apply sum_nonneg. intros. now apply Rlt_le. }
  (* what is missing is z^(T+1) / total *)
  assert (E : / total - (1 - z) = z ^ S T / total).
  { replace (z ^ S T) with (1 - (1 - z) * total) by lra. field. lra. }
  rewrite E. specialize (PosZ (S T)).
  rewrite Rabs_pos_eq by (apply Rlt_le, Rdiv_lt_0_compat; lra).
  apply Rle_lt_trans with (2 := G). apply Rmult_le_reg_r with total; [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.
