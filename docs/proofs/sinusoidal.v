(** * The sinusoidal encoding: Theorems 4.4 to 4.12 *)

From Coq Require Import Reals List Permutation Lra Lia ZArith.
From Coquelicot Require Import Complex.
From Book Require Import definitions.
Import ListNotations.
Open Scope R_scope.

(** ** Bounded *)

Lemma PE_dot : forall w p q i, dot2 (PE w p i) (PE w q i) = cos ((q - p) * w i).
Proof.
  intros. unfold dot2, PE; simpl.
  replace ((q - p) * w i) with (q * w i - p * w i) by ring. rewrite cos_minus. ring.
Qed.

Lemma PE_square : forall n w p, dot n (PE w p) (PE w p) = INR n.
Proof.
  intros. unfold dot. rewrite (sum_below _ (fun _ => 1)), sum_below_const; [ring|].
  intros. rewrite PE_dot. replace ((p - p) * w i) with 0 by ring. apply cos_0.
Qed.

(** Theorem 4.4 (one length): every entry lies between -1 and 1, *)
Theorem every_entry_is_bounded : forall w p i,
  -1 <= fst (PE w p i) <= 1 /\ -1 <= snd (PE w p i) <= 1.
Proof. intros. simpl. split; [apply SIN_bound|apply COS_bound]. Qed.

(** and at every real position the row has the length sqrt(d/2), where d = 2n. *)
Theorem every_row_has_one_length : forall n w p, norm n (PE w p) = sqrt (2 * INR n / 2).
Proof. intros. unfold norm. rewrite PE_square. f_equal. field. Qed.

(** ** Only the lag counts *)

Lemma square_length_of_minus : forall n u v,
  dot n (minus u v) (minus u v) = dot n u u + dot n v v - 2 * dot n u v.
Proof.
  intros. unfold dot. rewrite <- sum_scal, <- sum_plus, <- sum_minus.
  apply sum_below. intros. unfold dot2, minus; simpl. ring.
Qed.

(** Theorem 4.6 (only the lag counts): the cosine similarity of the rows of [p] and [p + k], *)
Theorem similarity_is_by_lag : forall n w p k, (0 < n)%nat ->
  cosine_similarity n (PE w p) (PE w (p + k)) = similarity n w k.
Proof.
  intros n w p k N. assert (P : 0 < INR n) by now apply lt_0_INR.
  unfold cosine_similarity, norm. rewrite !PE_square, sqrt_sqrt by lra.
  unfold similarity, dot. rewrite (sum_below _ (fun i => cos (k * w i))).
  - field. lra.
  - intros. rewrite PE_dot. f_equal. ring.
Qed.

(** their distance, *)
Theorem distance_is_by_lag : forall n w p k,
  distance n (PE w p) (PE w (p + k)) = delta n w k.
Proof.
  intros. unfold distance, norm, delta.
  rewrite square_length_of_minus, !PE_square.
  assert (E : INR n + INR n - 2 * dot n (PE w p) (PE w (p + k)) =
              2 * 2 * sum (fun i => (sin (k * w i / 2)) ^ 2) (below n)).
  { rewrite <- sum_scal. unfold dot. rewrite <- sum_scal.
    replace (INR n + INR n) with (sum (fun _ => 2) (below n))
      by (rewrite sum_below_const; ring).
    rewrite <- sum_minus. apply sum_below. intros. rewrite PE_dot.
    (* 1 - cos a = 2 sin^2 (a/2) *)
    replace ((p + k - p) * w i) with (2 * (k * w i / 2)) by field.
    rewrite cos_2a_sin. ring. }
  rewrite E, sqrt_mult, sqrt_square; try lra.
  apply sum_nonneg. intros. apply pow2_ge_0.
Qed.

(** and what one of them says of the other. *)
Theorem distance_from_similarity : forall n w k, (0 < n)%nat ->
  delta n w k = sqrt (2 * INR n * (1 - similarity n w k)).
Proof.
  intros n w k N. assert (P : 0 < INR n) by now apply lt_0_INR.
  rewrite <- (distance_is_by_lag n w 0 k), <- (similarity_is_by_lag n w 0 k) by auto.
  unfold distance, norm, cosine_similarity, norm.
  rewrite square_length_of_minus, !PE_square, sqrt_sqrt by lra. f_equal. field. lra.
Qed.

(** Both are even in [k]. *)
Theorem similarity_and_distance_are_even : forall n w k,
  similarity n w (- k) = similarity n w k /\ delta n w (- k) = delta n w k.
Proof.
  intros. unfold similarity, delta. split; [|f_equal]; f_equal; apply sum_below; intros.
  - rewrite <- cos_neg. f_equal. ring.
  - replace (- k * w i / 2) with (- (k * w i / 2)) by field. rewrite sin_neg. ring.
Qed.

(** ** No two alike *)

(** That pi is no fraction: Niven's proof is cited on the page, and not repeated here. *)
Definition pi_is_irrational : Prop := forall a b : Z, b <> 0%Z -> PI <> IZR a / IZR b.

(** Pair 0 turns by one radian a position, *)
Lemma frequency_0 : forall b n, (0 < n)%nat -> frequency b n 0 = 1.
Proof.
  intros b n N. unfold frequency. simpl INR at 1.
  replace (- (2 * 0 / (2 * INR n))) with 0.
  - unfold Rpower. rewrite Rmult_0_l. apply exp_0.
  - field. apply not_0_INR. lia.
Qed.

(** and comes back after no whole number of positions but 0. *)
Lemma whole_angle : pi_is_irrational -> forall k : Z, cos (IZR k) = 1 -> k = 0%Z.
Proof.
  intros Irr k C.
  assert (S : sin (IZR k / 2) = 0).
  { replace (IZR k) with (2 * (IZR k / 2)) in C by field. rewrite cos_2a_sin in C.
    assert (Q : sin (IZR k / 2) * sin (IZR k / 2) = 0) by lra.
    now destruct (Rmult_integral _ _ Q). }
  destruct (sin_eq_0_0 _ S) as [m M].
  destruct (Z.eq_dec m 0) as [->|N]; [apply eq_IZR; lra|].
  (* were it so, pi would be a fraction *)
  destruct (Irr k (2 * m)%Z); [lia|]. rewrite mult_IZR.
  assert (IZR m <> 0) by now apply not_0_IZR.
  apply Rmult_eq_reg_r with (2 * IZR m); [|lra]. field_simplify; [lra|lra].
Qed.

(** Theorem 4.5 (no two alike): at every even width, two different integer positions have different
    rows. *)
Theorem no_two_alike : pi_is_irrational ->
  forall b n, (0 < n)%nat -> forall p q : Z,
  same n (PE (frequency b n) (IZR p)) (PE (frequency b n) (IZR q)) -> p = q.
Proof.
  intros Irr b n N p q S. specialize (S 0%nat N).
  assert (C : cos (IZR (q - p)) = 1).
  { replace (IZR (q - p)) with ((IZR q - IZR p) * frequency b n 0)
      by (rewrite minus_IZR, frequency_0 by auto; ring).
    rewrite <- PE_dot, S, PE_dot, Rminus_diag_eq, Rmult_0_l by auto. apply cos_0. }
  apply (whole_angle Irr) in C. lia.
Qed.

(** Theorem 4.6, the last claim: the similarity is 1, or the distance 0, for no integer but 0. *)
Theorem similarity_1_at_lag_0_alone : pi_is_irrational ->
  forall b n, (0 < n)%nat -> forall k : Z,
  (similarity n (frequency b n) (IZR k) = 1 <-> k = 0%Z) /\
  (delta n (frequency b n) (IZR k) = 0 <-> k = 0%Z).
Proof.
  intros Irr b n N k. set (w := frequency b n).
  assert (P : 0 < INR n) by now apply lt_0_INR.
  assert (S0 : k = 0%Z -> similarity n w (IZR k) = 1).
  { intros ->. unfold similarity. rewrite (sum_below _ (fun _ => 1)), sum_below_const.
    - field. lra.
    - intros. rewrite Rmult_0_l. apply cos_0. }
  assert (D0 : k = 0%Z -> delta n w (IZR k) = 0).
  { intros K. unfold w. rewrite distance_from_similarity by auto. fold w. rewrite S0 by auto.
    rewrite Rminus_diag_eq, Rmult_0_r by auto. apply sqrt_0. }
  assert (D : delta n w (IZR k) = 0 -> k = 0%Z).
  { (* no sum of squares is 0 unless each of them is *)
    intros D. apply (whole_angle Irr).
    unfold delta in D. assert (Q : sum (fun i => sin (IZR k * w i / 2) ^ 2) (below n) = 0).
    { apply sqrt_eq_0; [|lra]. apply sum_nonneg. intros. apply pow2_ge_0. }
    destruct n as [|n]; [lia|]. unfold below in Q. simpl in Q.
    assert (T : 0 <= sum (fun i => sin (IZR k * w i / 2) * (sin (IZR k * w i / 2) * 1)) (seq 1 n)).
    { apply sum_nonneg. intros. rewrite Rmult_1_r. apply Rle_0_sqr. }
    unfold w in Q at 1 2. rewrite frequency_0, Rmult_1_r in Q by auto.
    pose proof (Rle_0_sqr (sin (IZR k / 2))) as U. unfold Rsqr in U.
    replace (IZR k) with (2 * (IZR k / 2)) by field. rewrite cos_2a_sin. lra. }
  split; split; auto. intros S. apply D. unfold w. rewrite distance_from_similarity by auto.
  fold w. rewrite S, Rminus_diag_eq, Rmult_0_r by auto. apply sqrt_0.
Qed.

(** ** The frequencies are different *)

Lemma frequency_exp : forall b n i, (0 < n)%nat ->
  frequency b n i = exp (- (INR i / INR n * ln b)).
Proof.
  intros. unfold frequency, Rpower. f_equal. field. apply not_0_INR. lia.
Qed.

(** With a base above 1, all frequencies are different and lie between 0 and 1, 1 included. So what
    is proved of different frequencies holds for those of the chapter. *)
Theorem frequencies_are_different : forall b n, 1 < b ->
  different_frequencies n (frequency b n) /\
  (forall i, (i < n)%nat -> 0 < frequency b n i <= 1).
Proof.
  intros b n B. assert (L : 0 < ln b) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (In01 : forall i, (i < n)%nat -> 0 < frequency b n i <= 1).
  { intros i I. split; [apply exp_pos|]. rewrite frequency_exp by lia.
    destruct (Nat.eq_dec i 0) as [->|Z].
    - replace (- (INR 0 / INR n * ln b)) with 0; [rewrite exp_0; lra|].
      simpl. field. apply not_0_INR. lia.
    - apply Rlt_le. rewrite <- exp_0. apply exp_increasing.
      assert (0 < INR i / INR n * ln b); [|lra].
      apply Rmult_lt_0_compat; auto. apply Rdiv_lt_0_compat; apply lt_0_INR; lia. }
  split; [split|]; auto.
  - intros i I. pose proof (In01 i I). pose proof PI_4. pose proof (PI2_1). lra.
  - intros i j I J E. rewrite !frequency_exp in E by lia. apply exp_inv in E.
    assert (N : INR n <> 0) by (apply not_0_INR; lia).
    assert (F : INR i * (ln b / INR n) = INR j * (ln b / INR n)) by (unfold Rdiv in *; lra).
    apply Rmult_eq_reg_r in F; [now apply INR_eq|].
    apply Rgt_not_eq. apply Rdiv_lt_0_compat; auto. apply lt_0_INR. lia.
Qed.

(** ** No margin lasts *)

(** [x] is within [e] of a whole number of turns. *)
Definition near (x e : R) : Prop := exists m : Z, Rabs (x - 2 * PI * IZR m) <= e.

(** Of more places than boxes, two share a box. *)
Lemma two_share_a_box : forall (f : nat -> nat) N,
  (forall t, (t <= N)%nat -> (f t < N)%nat) ->
  exists i j, (i < j)%nat /\ (j <= N)%nat /\ f i = f j.
Proof.
  intros f N Box.
  assert (Dec : forall k, (exists i j, (i < j)%nat /\ (j < k)%nat /\ f i = f j) \/
                          NoDup (map f (below k))).
  { induction k as [|k [[i [j [A [B C]]]]|D]].
    - right. constructor.
    - left. exists i, j. repeat split; auto; lia.
    - destruct (in_dec Nat.eq_dec (f k) (map f (below k))) as [I|I].
      + left. apply in_map_iff in I. destruct I as [i [E J]]. apply in_seq in J.
        exists i, k. repeat split; auto; lia.
      + right. unfold below. rewrite seq_S, map_app. simpl.
        apply Permutation_NoDup with (f k :: map f (seq 0 k)).
        * apply Permutation_cons_append.
        * now constructor. }
  destruct (Dec (S N)) as [[i [j [A [B C]]]]|D]; [exists i, j; repeat split; auto; lia|].
  (* no two alike would be N + 1 different numbers below N *)
  assert (Len : (length (map f (below (S N))) <= length (below N))%nat).
  { apply NoDup_incl_length; auto. intros y I. apply in_map_iff in I.
    destruct I as [t [<- J]]. apply in_seq in J. apply in_seq.
    pose proof (Box t). lia. }
  unfold below in Len. rewrite size_map, !size_seq in Len. lia.
Qed.

(** Among the first [N] multiples of an angle, one is nearly a whole number of turns. *)
Lemma one_multiple_is_near : forall N x, (0 < N)%nat ->
  exists t, (0 < t <= N)%nat /\ near (INR t * x) (2 * PI / INR N).
Proof.
  intros N x Pos. pose proof PI_RGT_0 as Pi.
  assert (PN : 0 < INR N) by now apply lt_0_INR.
  (* which of N equal boxes of a turn a multiple falls into *)
  pose (part := fun t => frac_part (INR t * x / (2 * PI))).
  pose (box := fun t => Z.to_nat (Int_part (INR N * part t))).
  assert (Range : forall t, 0 <= part t < 1).
  { intros t. destruct (base_fp (INR t * x / (2 * PI))). unfold part. lra. }
  assert (In_box : forall t, INR (box t) <= INR N * part t < INR (box t) + 1).
  { intros t. destruct (base_Int_part (INR N * part t)) as [A B]. specialize (Range t).
    assert (NN : 0 <= INR N * part t) by (apply Rmult_le_pos; lra).
    assert (Z0 : (0 <= Int_part (INR N * part t))%Z).
    { assert (-1 < IZR (Int_part (INR N * part t))) by lra.
      change (-1) with (IZR (-1)) in H. apply lt_IZR in H. lia. }
    unfold box. rewrite INR_IZR_INZ, Z2Nat.id by auto. lra. }
  destruct (two_share_a_box box N) as [i [j [Less [Last Same]]]].
  { intros t _. apply INR_lt. specialize (In_box t). specialize (Range t). nra. }
  exists (j - i)%nat. split; [lia|].
  exists (Int_part (INR j * x / (2 * PI)) - Int_part (INR i * x / (2 * PI)))%Z.
  (* what is left is the difference of two numbers of one box *)
  assert (D : INR (j - i) * x - 2 * PI * IZR (Int_part (INR j * x / (2 * PI)) -
      Int_part (INR i * x / (2 * PI))) = 2 * PI / INR N * (INR N * part j - INR N * part i)).
  { unfold part, frac_part. rewrite minus_INR, minus_IZR by lia. field. lra. }
  rewrite D. rewrite Rabs_mult, (Rabs_pos_eq (2 * PI / INR N))
    by (apply Rlt_le, Rdiv_lt_0_compat; lra).
  rewrite <- (Rmult_1_r (2 * PI / INR N)) at 2. apply Rmult_le_compat_l.
  - apply Rlt_le, Rdiv_lt_0_compat; lra.
  - pose proof (In_box i). pose proof (In_box j). rewrite Same in *.
    apply Rabs_le. lra.
Qed.

(** So some multiple of any length [L] is near a whole number of turns in all pairs at once. *)
Lemma all_pairs_come_near : forall n w e L, 0 < e -> (0 < L)%nat ->
  exists k, (L <= k)%nat /\ forall i, (i < n)%nat -> near (INR k * w i) e.
Proof.
  induction n as [|n IH]; intros w e L E Pos.
  - exists L. split; auto. intros; lia.
  - pose proof PI_RGT_0 as Pi.
    (* so many boxes that each is narrower than e *)
    destruct (archimed_cor1 (e / (2 * PI))) as [N [Small PosN]];
      [apply Rdiv_lt_0_compat; lra|].
    assert (PN : 0 < INR N) by now apply lt_0_INR.
    destruct (IH w (e / INR N) L) as [K [LK Near]]; [now apply Rdiv_lt_0_compat|auto|].
    destruct (one_multiple_is_near N (INR K * w n) PosN) as [t [T [m M]]].
    exists (t * K)%nat. split; [nia|]. intros i I. rewrite mult_INR, Rmult_assoc.
    destruct (Nat.eq_dec i n) as [->|D].
    + exists m. apply Rle_trans with (1 := M). unfold Rdiv.
      apply Rmult_lt_compat_l with (r := 2 * PI) in Small; [|lra].
      replace (2 * PI * (e / (2 * PI))) with e in Small by (field; lra). lra.
    + (* t times a number near whole turns is near them, t times less so *)
      destruct (Near i) as [l Nl]; [lia|]. exists (Z.of_nat t * l)%Z.
      rewrite mult_IZR, <- INR_IZR_INZ.
      replace (INR t * (INR K * w i) - 2 * PI * (INR t * IZR l)) with
        (INR t * (INR K * w i - 2 * PI * IZR l)) by ring.
      rewrite Rabs_mult, (Rabs_pos_eq (INR t)) by apply pos_INR.
      apply Rle_trans with (INR N * (e / INR N)); [|right; field; lra].
      apply Rmult_le_compat; auto using pos_INR, Rabs_pos. apply le_INR. lia.
Qed.

(** Half of whole turns changes the sign of a sine at most. *)
Lemma sine_of_half : forall x (m : Z), (sin (x / 2)) ^ 2 = (sin ((x - 2 * PI * IZR m) / 2)) ^ 2.
Proof.
  intros x m. set (y := x - 2 * PI * IZR m).
  assert (E : forall a, (sin a) ^ 2 = (1 - cos (2 * a)) / 2)
    by (intros; rewrite cos_2a_sin; field).
  rewrite !E. do 2 f_equal.
  replace (2 * (x / 2)) with (y + 2 * IZR m * PI) by (unfold y; field).
  replace (2 * (y / 2)) with y by field. symmetry.
  destruct (Z_le_gt_dec 0 m) as [G|G].
  - rewrite <- (Z2Nat.id m) by auto. rewrite <- INR_IZR_INZ. symmetry. apply cos_period.
  - rewrite <- (cos_period (y + 2 * IZR m * PI) (Z.to_nat (- m))). f_equal.
    rewrite INR_IZR_INZ, Z2Nat.id, opp_IZR by lia. ring.
Qed.

Lemma sine_is_below_angle : forall a, Rabs (sin a) <= Rabs a.
Proof.
  assert (P : forall a, 0 < a -> Rabs (sin a) <= a).
  { intros a A. pose proof (sin_lt_x a A). pose proof (SIN_bound a). apply Rabs_le.
    destruct (Rle_lt_dec 1 a); [lra|].
    assert (0 < sin a) by (apply sin_gt_0; pose proof PI2_1; lra). lra. }
  intros a. destruct (Rtotal_order a 0) as [L|[->|G]].
  - rewrite <- (Rabs_Ropp (sin a)), <- (Rabs_Ropp a), <- sin_neg, (Rabs_pos_eq (- a)) by lra.
    apply P. lra.
  - rewrite sin_0. lra.
  - rewrite (Rabs_pos_eq a) by lra. now apply P.
Qed.

(** A small angle's sine is no larger than the angle, whole turns of twice the angle apart. *)
Lemma sine_of_near : forall x e, near x e -> (sin (x / 2)) ^ 2 <= (e / 2) ^ 2.
Proof.
  intros x e [m M]. set (y := x - 2 * PI * IZR m) in *.
  assert (S : (sin (x / 2)) ^ 2 = (sin (y / 2)) ^ 2) by apply sine_of_half.
  rewrite S. apply pow_maj_Rabs.
  apply Rle_trans with (Rabs (y / 2)).
  - apply sine_is_below_angle.
  - unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ 2)) by lra. lra.
Qed.

(** Theorem 4.8 (no margin lasts): at every width, with whatever frequencies, there are lags, as
    large as you like, at which two rows are as close as you like; *)
Theorem no_margin_lasts : forall n w eps, 0 < eps -> forall K : nat,
  exists k : nat, (K <= k)%nat /\ (0 < k)%nat /\ delta n w (INR k) < eps.
Proof.
  intros n w eps E K.
  assert (Pos : 0 < INR (S n)) by (apply lt_0_INR; lia).
  destruct (all_pairs_come_near n w (eps / INR (S n)) (S K)) as [k [LK Near]];
    [now apply Rdiv_lt_0_compat|lia|].
  exists k. split; [lia|]. split; [lia|].
  assert (Sum : sum (fun i => sin (INR k * w i / 2) ^ 2) (below n) <=
                INR n * (eps / INR (S n) / 2) ^ 2).
  { rewrite <- sum_below_const. apply sum_le. intros i I. apply in_seq in I.
    apply sine_of_near. apply Near. lia. }
  unfold delta. replace eps with (2 * (eps / 2)) by field.
  apply Rmult_lt_compat_l; [lra|]. rewrite <- (sqrt_Rsqr (eps / 2)) by lra.
  apply sqrt_lt_1.
  - apply sum_nonneg. intros. apply pow2_ge_0.
  - apply Rle_0_sqr.
  - apply Rle_lt_trans with (1 := Sum). unfold Rsqr.
    replace (INR n * (eps / INR (S n) / 2) ^ 2) with
      (INR n / INR (S n) / INR (S n) * (eps / 2 * (eps / 2))) by (field; lra).
    rewrite <- (Rmult_1_l (eps / 2 * (eps / 2))) at 2. apply Rmult_lt_compat_r; [nra|].
    rewrite S_INR in *. pose proof (pos_INR n).
    apply Rmult_lt_reg_r with ((INR n + 1) * (INR n + 1)); [nra|].
    field_simplify; [nra|lra].
Qed.

(** and the similarity comes back as near to 1 as you like. *)
Theorem similarity_comes_back : forall n w eps, (0 < n)%nat -> 0 < eps -> forall K : nat,
  exists k : nat, (K <= k)%nat /\ (0 < k)%nat /\ 1 - eps < similarity n w (INR k).
Proof.
  intros n w eps N E K. assert (P : 0 < INR n) by now apply lt_0_INR.
  destruct (no_margin_lasts n w (sqrt eps)) with (K := K) as [k [A [B D]]];
    [now apply sqrt_lt_R0|].
  exists k. repeat split; auto. rewrite distance_from_similarity in D by auto.
  apply sqrt_lt_0_alt in D. assert (1 <= INR n) by (apply (le_INR 1); lia). nra.
Qed.

(** So there is no lag [K] from which on each similarity is below the one before. *)
Theorem similarity_never_falls_for_good : forall n w (K : nat), (0 < n)%nat ->
  ~ (forall k : nat, (K <= k)%nat -> similarity n w (INR (S k)) < similarity n w (INR k)).
Proof.
  intros n w K N Falls. assert (P : 0 < INR n) by now apply lt_0_INR.
  (* no similarity is above 1 *)
  assert (Top : similarity n w (INR K) <= 1).
  { unfold similarity. apply Rmult_le_reg_l with (INR n); auto.
    replace (INR n * (2 / (2 * INR n) * sum (fun i => cos (INR K * w i)) (below n)))
      with (sum (fun i => cos (INR K * w i)) (below n)) by (field; lra).
    rewrite <- sum_below_const. apply sum_le. intros. apply COS_bound. }
  (* after one step down it would stay below *)
  assert (Below : forall j : nat, similarity n w (INR (S K + j)) <= similarity n w (INR (S K))).
  { induction j as [|j IH]; [rewrite Nat.add_0_r; lra|].
    rewrite Nat.add_succ_r. specialize (Falls (S K + j)%nat). assert (K <= S K + j)%nat by lia.
    specialize (Falls H). lra. }
  specialize (Falls K (le_n K)).
  destruct (similarity_comes_back n w (1 - similarity n w (INR (S K))) N) with (K := S K)
    as [k [A [_ B]]]; [lra|].
  specialize (Below (k - S K)%nat). replace (S K + (k - S K))%nat with k in Below by lia. lra.
Qed.

(** ** Near misses of one pair *)

(** Theorem 4.7, step 1 of its proof: at width 2 the distance is twice the size of a sine. *)
Theorem distance_of_one_pair : forall b k, delta 1 (frequency b 1) k = 2 * Rabs (sin (k / 2)).
Proof.
  intros b k. unfold delta. simpl sum. rewrite frequency_0, Rmult_1_r by lia.
  rewrite Rmult_1_r, Rplus_0_r. f_equal. apply sqrt_Rsqr_abs.
Qed.

(** The nearest whole number of turns, and what it says of the sine. *)
Lemma nearest_turn : forall x, exists m : Z,
  (forall m' : Z, Rabs (x - 2 * PI * IZR m) <= Rabs (x - 2 * PI * IZR m')) /\
  Rabs (x - 2 * PI * IZR m) <= PI /\
  Rabs (sin (x / 2)) = sin (Rabs (x - 2 * PI * IZR m) / 2).
Proof.
  intros x. pose proof PI_RGT_0 as Pi.
  set (m := Int_part (x / (2 * PI) + 1 / 2)). exists m.
  destruct (base_Int_part (x / (2 * PI) + 1 / 2)) as [A B]. fold m in A, B.
  assert (X : x = 2 * PI * (x / (2 * PI))) by (field; lra).
  set (y := x - 2 * PI * IZR m).
  assert (Y : - PI <= y <= PI) by (unfold y; rewrite X; split; nra).
  assert (Ya : Rabs y <= PI) by now apply Rabs_le.
  split; [|split; auto].
  - intros m'. destruct (Z.eq_dec m m') as [<-|N]; [unfold y; lra|].
    (* any other is at least one turn further *)
    assert (F : 1 <= Rabs (IZR m - IZR m')).
    { rewrite <- minus_IZR, <- abs_IZR. apply IZR_le. lia. }
    assert (G : 2 * PI <= Rabs (2 * PI * (IZR m - IZR m'))).
    { rewrite Rabs_mult, (Rabs_pos_eq (2 * PI)) by lra. nra. }
    replace (2 * PI * (IZR m - IZR m')) with ((x - 2 * PI * IZR m') - y) in G by (unfold y; ring).
    pose proof (Rabs_triang (x - 2 * PI * IZR m') (- y)) as T. rewrite Rabs_Ropp in T.
    unfold Rminus at 1 in G. lra.
  - assert (S : Rabs (sin (x / 2)) = Rabs (sin (y / 2))).
    { apply Rsqr_eq_abs_0. unfold Rsqr. pose proof (sine_of_half x m) as H. fold y in H.
      simpl in H. rewrite !Rmult_1_r in H. exact H. }
    rewrite S. unfold Rabs at 2. destruct (Rcase_abs y) as [L|L].
    + rewrite <- Rabs_Ropp, <- sin_neg. replace (- (y / 2)) with (- y / 2) by field.
      apply Rabs_pos_eq, sin_ge_0; lra.
    + apply Rabs_pos_eq, sin_ge_0; lra.
Qed.

(** Theorem 4.7 (near misses of one pair), steps 1 and 2: the rows come closer at lag [k] than at
    any smaller lag if and only if some [m] makes m/k a best approximation of the second kind to
    1/(2 pi). That these are the convergents is Lagrange's theorem, which is cited on the page. *)
Theorem records_are_best_approximations : forall b (k : nat), (0 < k)%nat ->
  (forall j : nat, (0 < j < k)%nat ->
     delta 1 (frequency b 1) (INR k) < delta 1 (frequency b 1) (INR j)) <->
  (exists m : Z, forall (j : nat) (m' : Z), (0 < j < k)%nat ->
     Rabs (INR k * (1 / (2 * PI)) - IZR m) < Rabs (INR j * (1 / (2 * PI)) - IZR m')).
Proof.
  intros b k K. pose proof PI_RGT_0 as Pi.
  (* in turns or in radians *)
  assert (Turns : forall x (m : Z),
    2 * PI * Rabs (x * (1 / (2 * PI)) - IZR m) = Rabs (x - 2 * PI * IZR m)).
  { intros x m. rewrite <- (Rabs_pos_eq (2 * PI)) at 1 by lra. rewrite <- Rabs_mult. f_equal.
    field. lra. }
  (* sines grow with the distance to the nearest whole number of turns *)
  assert (Grow : forall r s, 0 <= r <= PI -> 0 <= s <= PI -> sin (r / 2) < sin (s / 2) <-> r < s).
  { intros r s R1 S1. split; intros H.
    - apply sin_increasing_0 in H; lra.
    - apply sin_increasing_1; lra. }
  destruct (nearest_turn (INR k)) as [m [Best [Half Sine]]].
  assert (Dist : forall x y mx my, Rabs (sin (x / 2)) = sin (Rabs (x - 2 * PI * IZR mx) / 2) ->
    Rabs (sin (y / 2)) = sin (Rabs (y - 2 * PI * IZR my) / 2) ->
    Rabs (x - 2 * PI * IZR mx) <= PI -> Rabs (y - 2 * PI * IZR my) <= PI ->
    delta 1 (frequency b 1) x < delta 1 (frequency b 1) y <->
    Rabs (x - 2 * PI * IZR mx) < Rabs (y - 2 * PI * IZR my)).
  { intros x y mx my Sx Sy Hx Hy. rewrite !distance_of_one_pair, Sx, Sy.
    destruct (Grow (Rabs (x - 2 * PI * IZR mx)) (Rabs (y - 2 * PI * IZR my))) as [G H];
      try (split; [apply Rabs_pos|auto]).
    split; intros L; [apply G|specialize (H L)]; lra. }
  split.
  - intros Record. exists m. intros j m' J. specialize (Record j J).
    destruct (nearest_turn (INR j)) as [mj [Bj [Hj Sj]]].
    apply (Dist _ _ m mj) in Record; auto.
    apply Rmult_lt_reg_l with (2 * PI); [lra|]. rewrite !Turns.
    apply Rlt_le_trans with (1 := Record). apply Bj.
  - intros [n Close] j J.
    destruct (nearest_turn (INR j)) as [mj [Bj [Hj Sj]]].
    apply (Dist _ _ m mj); auto. apply Rle_lt_trans with (1 := Best n).
    rewrite <- !Turns. apply Rmult_lt_compat_l; [lra|]. now apply Close.
Qed.

(** ** A shift is a rotation *)

(** Theorem 4.9 (a): the matrix [shift_matrix w k] carries the row of every real position to the row
    [k] further on. *)
Theorem shift_is_a_rotation : forall n w k p,
  same n (apply n (shift_matrix w k) (PE w p)) (PE w (p + k)).
Proof.
  intros n w k p i I. unfold shift_matrix. rewrite apply_diagonal by auto.
  unfold apply_block, shift_block, dot2, PE; simpl.
  rewrite Rmult_plus_distr_r, sin_plus, cos_plus. f_equal; ring.
Qed.

(** Theorem 4.9 (b): the matrix is orthogonal: it keeps scalar products; *)
Theorem shift_matrix_is_orthogonal : forall n w k x y,
  dot n (apply n (shift_matrix w k) x) (apply n (shift_matrix w k) y) = dot n x y.
Proof.
  intros. unfold dot. apply sum_below. intros i I. unfold shift_matrix.
  rewrite !apply_diagonal by auto. unfold apply_block, shift_block, dot2; simpl.
  pose proof (sin2_cos2 (k * w i)) as T. unfold Rsqr in T.
  replace (fst (x i) * fst (y i) + snd (x i) * snd (y i)) with
    ((sin (k * w i) * sin (k * w i) + cos (k * w i) * cos (k * w i)) *
     (fst (x i) * fst (y i) + snd (x i) * snd (y i))) by (rewrite T; ring). ring.
Qed.

(** each of its blocks has the determinant 1, and so has the matrix, which is 0 elsewhere; *)
Theorem shift_blocks_have_determinant_1 : forall w k i,
  let a := shift_block w k i in
  fst (fst a) * snd (snd a) - snd (fst a) * fst (snd a) = 1.
Proof. intros. simpl. pose proof (sin2_cos2 (k * w i)) as T. unfold Rsqr in T. lra. Qed.

(** shifts add up; *)
Theorem shifts_add_up : forall n w k l x,
  same n (apply n (shift_matrix w (k + l)) x)
         (apply n (shift_matrix w k) (apply n (shift_matrix w l) x)).
Proof.
  intros n w k l x i I. unfold shift_matrix. rewrite !apply_diagonal by auto.
  unfold apply_block, shift_block, dot2; simpl.
  rewrite Rmult_plus_distr_r, sin_plus, cos_plus. f_equal; ring.
Qed.

(** and shifting back is the transpose: rows and columns change places. *)
Definition transpose (A : matrix) : matrix := fun i j =>
  let a := A j i in ((fst (fst a), fst (snd a)), (snd (fst a), snd (snd a))).

Theorem shifting_back_is_the_transpose : forall w k i j,
  shift_matrix w (- k) i j = transpose (shift_matrix w k) i j.
Proof.
  intros. unfold transpose, shift_matrix, diagonal. rewrite (Nat.eqb_sym j i).
  destruct (Nat.eqb i j) eqn:E; auto. apply Nat.eqb_eq in E. subst j.
  unfold shift_block; simpl. replace (- k * w i) with (- (k * w i)) by ring.
  rewrite cos_neg, sin_neg, Ropp_involutive.
  reflexivity.
Qed.

(** *** The rows span the whole space *)

(** Cosine is one-to-one between 0 and pi. *)
Lemma cos_different : forall a b, 0 < a < PI -> 0 < b < PI -> a <> b -> cos a <> cos b.
Proof.
  intros a b A B N E. destruct (Rtotal_order a b) as [L|[L|L]]; auto;
    apply cos_decreasing_1 in L; lra.
Qed.

(** A sum of waves of different frequencies that is 0 at 0, 1, 2, ... has no waves. Here [s] is
    where the count starts, which makes the induction go through. *)
Lemma waves_are_independent : forall n w c s, different_frequencies n w ->
  (forall p : nat, dot n c (PE w (INR p + s)) = 0) -> forall i, (i < n)%nat -> c i = (0, 0).
Proof.
  induction n as [|n IH]; intros w c s [Range Diff] Z; [lia|].
  assert (Less : forall i, (i < n)%nat -> c i = (0, 0)).
  { (* f(p+2) + f(p) - 2 cos(w_n) f(p+1) removes the last wave, and multiplies every other one by a
       number that is not 0 *)
    pose (m := fun i => 2 * (cos (w i) - cos (w n))).
    pose (c' := fun i => (m i * fst (c i), m i * snd (c i))).
    assert (Z' : forall p : nat, dot n c' (PE w (INR p + (s + 1))) = 0).
    { intros p.
      assert (E : dot (S n) c (PE w (INR (S (S p)) + s)) + dot (S n) c (PE w (INR p + s)) -
                  2 * cos (w n) * dot (S n) c (PE w (INR (S p) + s)) = 0) by (rewrite !Z; ring).
      rewrite <- E. unfold dot. rewrite <- sum_scal, <- sum_plus, <- sum_minus, sum_S.
      rewrite !S_INR.
      match goal with |- _ = _ + ?last => assert (L : last = 0) end.
      { unfold dot2, PE; simpl.
        replace ((INR p + 1 + 1 + s) * w n) with ((INR p + 1 + s) * w n + w n) by ring.
        replace ((INR p + s) * w n) with ((INR p + 1 + s) * w n - w n) by ring.
        rewrite sin_plus, cos_plus, sin_minus, cos_minus. ring. }
      rewrite L, Rplus_0_r. apply sum_below. intros i I.
      unfold dot2, PE, c', m; simpl.
      replace ((INR p + 1 + 1 + s) * w i) with ((INR p + (s + 1)) * w i + w i) by ring.
      replace ((INR p + s) * w i) with ((INR p + (s + 1)) * w i - w i) by ring.
      replace (INR p + 1 + s) with (INR p + (s + 1)) by ring.
      rewrite sin_plus, cos_plus, sin_minus, cos_minus. ring. }
    intros i I.
    assert (C : c' i = (0, 0)).
    { apply (IH w c' (s + 1)); auto. split; intros; [apply Range|apply Diff]; auto; lia. }
    assert (M : m i <> 0).
    { unfold m. assert (cos (w i) <> cos (w n)); [|lra].
      apply cos_different; try (apply Range; lia).
      intros E. apply Diff in E; lia. }
    unfold c' in C. injection C as C1 C2.
    destruct (c i) as [a b]. simpl in *. f_equal;
      [destruct (Rmult_integral _ _ C1)|destruct (Rmult_integral _ _ C2)]; tauto. }
  intros i I. destruct (Nat.eq_dec i n) as [->|N]; [|apply Less; lia].
  (* one wave is left, which two positions in a row determine *)
  assert (One : forall p : nat, dot2 (c n) (PE w (INR p + s) n) = 0).
  { intros p. rewrite <- (Z p). unfold dot. rewrite sum_S, (sum_below _ (fun _ => 0)).
    - rewrite sum_below_const. ring.
    - intros j J. rewrite (Less j J). apply dot2_0. }
  pose proof (One 0%nat) as A. pose proof (One 1%nat) as B.
  unfold dot2, PE in A, B. simpl in A, B.
  replace ((1 + s) * w n) with ((0 + s) * w n + w n) in B by ring.
  rewrite sin_plus, cos_plus in B.
  assert (Pos : 0 < sin (w n)) by (apply sin_gt_0; apply Range; lia).
  pose proof (sin2_cos2 ((0 + s) * w n)) as T. unfold Rsqr in T.
  set (x := sin ((0 + s) * w n)) in *. set (y := cos ((0 + s) * w n)) in *.
  destruct (c n) as [a b]. simpl in *.
  assert (B' : sin (w n) * (a * y - b * x) = 0).
  { replace (sin (w n) * (a * y - b * x)) with
      ((a * (x * cos (w n) + y * sin (w n)) + b * (y * cos (w n) - x * sin (w n))) -
       cos (w n) * (a * x + b * y)) by ring. rewrite A, B. ring. }
  destruct (Rmult_integral _ _ B') as [H|H]; [lra|].
  f_equal.
  - replace a with (x * (a * x + b * y) + y * (a * y - b * x) + a * (1 - (x * x + y * y))) by ring.
    rewrite A, H, T. ring.
  - replace b with (y * (a * x + b * y) - x * (a * y - b * x) + b * (1 - (x * x + y * y))) by ring.
    rewrite A, H, T. ring.
Qed.

(** No vector but 0 is orthogonal to the rows of the positions 0, 1, 2, ... *)
Lemma rows_span : forall n w c, different_frequencies n w ->
  (forall p : nat, dot n c (PE w (INR p)) = 0) -> forall i, (i < n)%nat -> c i = (0, 0).
Proof.
  intros n w c D Z. apply (waves_are_independent n w c 0 D).
  intros p. now rewrite Rplus_0_r.
Qed.

(** Two vectors with the same products with all rows are the same. *)
Lemma rows_determine : forall n w u v, different_frequencies n w ->
  (forall p : nat, dot n u (PE w (INR p)) = dot n v (PE w (INR p))) -> same n u v.
Proof.
  intros n w u v D E i I.
  assert (M : minus u v i = (0, 0)).
  { apply (rows_span n w _ D); auto. intros p.
    rewrite <- (Rminus_diag_eq _ _ (E p)). unfold dot. rewrite <- sum_minus.
    apply sum_below. intros. unfold dot2, minus; simpl. ring. }
  unfold minus in M. injection M as A B.
  rewrite (surjective_pairing (u i)), (surjective_pairing (v i)). f_equal; lra.
Qed.

(** So a matrix is determined by what it does to the rows. *)
Lemma rows_determine_a_matrix : forall n w A B, different_frequencies n w ->
  (forall p : nat, same n (apply n A (PE w (INR p))) (apply n B (PE w (INR p)))) ->
  forall i j, (i < n)%nat -> (j < n)%nat -> A i j = B i j.
Proof.
  intros n w A B D E i j I J.
  assert (U : same n (fun j => fst (A i j)) (fun j => fst (B i j))).
  { apply (rows_determine n w); auto. intros p. exact (f_equal fst (E p i I)). }
  assert (L : same n (fun j => snd (A i j)) (fun j => snd (B i j))).
  { apply (rows_determine n w); auto. intros p. exact (f_equal snd (E p i I)). }
  rewrite (surjective_pairing (A i j)), (surjective_pairing (B i j)).
  f_equal; [apply U|apply L]; auto.
Qed.

(** Theorem 4.9 (c): no other matrix carries the row of every position 0, 1, 2, ... to the row [k]
    further on. *)
Theorem the_shift_matrix_is_unique : forall n w k M, different_frequencies n w ->
  (forall p : nat, same n (apply n M (PE w (INR p))) (PE w (INR p + k))) ->
  forall i j, (i < n)%nat -> (j < n)%nat -> M i j = shift_matrix w k i j.
Proof.
  intros n w k M D E. apply (rows_determine_a_matrix n w); auto.
  intros p i I. rewrite (E p i I). symmetry. now apply shift_is_a_rotation.
Qed.

(** ** Doubling *)

(** The row read as complex numbers: a pair (sine, cosine) is sin + i cos. *)
Definition complex_row (w : nat -> R) (p : R) : nat -> C := PE w p.

(** The factor e^(-i b w_i) of pair [i] in a turn by [b]. *)
Definition factor (w : nat -> R) (b : R) : nat -> C := fun i => (cos (b * w i), - sin (b * w i)).

(** Theorem 4.10 (doubling): a row times a turn, entry by entry, is the row further on. *)
Theorem a_turn_moves_a_row : forall w a b i,
  complex_row w (a + b) i = Cmult (complex_row w a i) (factor w b i).
Proof.
  intros. unfold complex_row, factor, PE, Cmult; simpl.
  rewrite Rmult_plus_distr_r, sin_plus, cos_plus. f_equal; ring.
Qed.

(** A table doubled [m] times from the row of position 0: in step [k] all rows so far are turned
    once more, with the factors [turns k]. *)
Fixpoint doubled (start : nat -> C) (turns : nat -> nat -> C) (m : nat) : list (nat -> C) :=
  match m with
  | O => [start]
  | S k => doubled start turns k ++
           map (fun row i => Cmult (row i) (turns k i)) (doubled start turns k)
  end.

(** The factors that belong there: step [k] turns by 2^k. *)
Definition exact_turns (w : nat -> R) (k : nat) : nat -> C := factor w (INR (2 ^ k)).

Definition table (w : nat -> R) (length : nat) : list (nat -> C) :=
  map (fun p => complex_row w (INR p)) (below length).

Lemma map_seq_shift : forall (T : Type) (f : nat -> T) a n,
  map f (seq a n) = map (fun b => f (a + b)%nat) (below n).
Proof.
  intros T f a n. unfold below. revert a. induction n as [|n IH]; intros a; auto. simpl.
  f_equal; [f_equal; lia|]. rewrite (IH (S a)), <- seq_shift, map_map.
  apply map_ext. intros. f_equal. lia.
Qed.

(** Theorem 4.10 (a): 2^m rows from one row with m turns, *)
Theorem doubling_makes_a_table : forall w m,
  doubled (complex_row w 0) (exact_turns w) m = table w (2 ^ m).
Proof.
  intros w m. unfold table. induction m as [|m IH]; [reflexivity|].
  simpl doubled. rewrite IH, map_map.
  replace (2 ^ S m)%nat with (2 ^ m + 2 ^ m)%nat by (simpl; lia).
  unfold below at 3. rewrite seq_app, map_app. f_equal.
  (* the second half are the rows 2^m further on *)
  simpl. rewrite map_seq_shift. apply map_ext. intros p.
  apply FunctionalExtensionality.functional_extensionality. intros i.
  unfold exact_turns. rewrite <- a_turn_moves_a_row, plus_INR, Rplus_comm. reflexivity.
Qed.

(** (b) and A B rows from A rows, B apart, with B turns: *)
Theorem blocks_make_a_table : forall w A B,
  flat_map (fun a => map (fun b i => Cmult (complex_row w (INR (a * B)) i) (factor w (INR b) i))
                         (below B)) (below A)
  = table w (A * B).
Proof.
  intros w A B. unfold table. induction A as [|A IH]; [reflexivity|].
  unfold below at 2. rewrite seq_S, flat_map_concat_map, map_app, concat_app,
    <- flat_map_concat_map. fold (below A). rewrite IH. simpl concat. rewrite app_nil_r.
  replace (S A * B)%nat with (A * B + B)%nat by lia.
  unfold below at 3. rewrite seq_app, map_app. f_equal.
  simpl. rewrite map_seq_shift. apply map_ext. intros b.
  apply FunctionalExtensionality.functional_extensionality. intros i.
  rewrite <- a_turn_moves_a_row, plus_INR. reflexivity.
Qed.

Lemma modulus_of_an_entry : forall w p i, Cmod (complex_row w p i) = 1.
Proof.
  intros. unfold Cmod, complex_row, PE; simpl. transitivity (sqrt 1); [f_equal|apply sqrt_1].
  pose proof (sin2_cos2 (p * w i)) as T. unfold Rsqr in T. lra.
Qed.

Lemma modulus_of_a_factor : forall w p i, Cmod (factor w p i) = 1.
Proof.
  intros. unfold Cmod, factor; simpl. transitivity (sqrt 1); [f_equal|apply sqrt_1].
  pose proof (sin2_cos2 (p * w i)) as T. unfold Rsqr in T. lra.
Qed.

Lemma forall2_weaken : forall (U V : Type) (P Q : U -> V -> Prop) l l',
  (forall a b, P a b -> Q a b) -> Forall2 P l l' -> Forall2 Q l l'.
Proof. induction 2; auto. Qed.

(** (c) If every factor is off by at most [eps] and products are exact, an entry of (a) is off by at
    most (1 + eps)^m - 1. *)
Theorem errors_of_doubling : forall w turns eps m, 0 <= eps ->
  (forall k i, Cmod (Cminus (turns k i) (exact_turns w k i)) <= eps) ->
  Forall2 (fun made exact => forall i, Cmod (Cminus (made i) (exact i)) <= (1 + eps) ^ m - 1)
    (doubled (complex_row w 0) turns m) (table w (2 ^ m)).
Proof.
  intros w turns eps m Pos Close. rewrite <- doubling_makes_a_table.
  assert (One : Forall (fun r => forall i, Cmod (r i) = 1)
    (doubled (complex_row w 0) (exact_turns w) m)).
  { rewrite doubling_makes_a_table. apply Forall_forall. intros r I.
    unfold table in I. apply in_map_iff in I. destruct I as [p [<- _]].
    intros i. apply modulus_of_an_entry. }
  induction m as [|m IH]; simpl doubled.
  - constructor; [|constructor]. intros i. unfold Cminus.
    rewrite Cplus_opp_r, Cmod_0. simpl. lra.
  - simpl doubled in One. apply Forall_app in One. destruct One as [One _].
    specialize (IH One). assert (G : 0 <= (1 + eps) ^ m - 1).
    { rewrite <- (pow1 m) at 2. assert (1 ^ m <= (1 + eps) ^ m); [|lra].
      apply pow_incr. lra. }
    apply Forall2_app.
    + (* the first half is as before *)
      eapply forall2_weaken; [|exact IH]. intros a b H i. simpl.
      apply Rle_trans with (1 := H i). nra.
    + (* the second has one factor more *)
      revert One IH. generalize (doubled (complex_row w 0) (exact_turns w) m).
      generalize (doubled (complex_row w 0) turns m).
      induction l as [|a l IHl]; intros l' One F; inversion F; subst; simpl; constructor.
      * intros i. pose proof (Forall_inv One i) as Unit.
        replace (Cminus (Cmult (a i) (turns m i)) (Cmult (y i) (exact_turns w m i))) with
          (Cplus (Cmult (Cminus (a i) (y i)) (turns m i))
                 (Cmult (y i) (Cminus (turns m i) (exact_turns w m i)))) by ring.
        apply Rle_trans with (1 := Cmod_triangle _ _). rewrite !Cmod_mult, Unit, Rmult_1_l.
        assert (T : Cmod (turns m i) <= 1 + eps).
        { replace (turns m i) with
            (Cplus (exact_turns w m i) (Cminus (turns m i) (exact_turns w m i))) by ring.
          apply Rle_trans with (1 := Cmod_triangle _ _).
          unfold exact_turns at 1. rewrite modulus_of_a_factor. specialize (Close m i). lra. }
        pose proof (Cmod_ge_0 (turns m i)). pose proof (Cmod_ge_0 (Cminus (a i) (y i))).
        assert (Cmod (Cminus (a i) (y i)) * Cmod (turns m i) <= ((1 + eps) ^ m - 1) * (1 + eps)).
        { apply Rmult_le_compat; auto. }
        specialize (Close m i). simpl. lra.
      * apply IHl; auto. now inversion One.
Qed.

(** ** What a model can learn from it *)

(** The score that row [p] gives row [q] through the matrix [A]. *)
Definition learned_score (n : nat) (w : nat -> R) (A : matrix) (p q : R) : R :=
  dot n (PE w p) (apply n A (PE w q)).

(** The blocks of Theorem 4.11. *)
Definition rotated_block (alpha beta : nat -> R) (i : nat) : block :=
  ((alpha i, beta i), (- beta i, alpha i)).

(** Theorem 4.11, its formula: such a matrix scores by the signed offset alone. *)
Theorem rotated_blocks_score_by_the_offset : forall n w A alpha beta rho phi,
  (forall i, (i < n)%nat -> alpha i = rho i * cos (phi i) /\ beta i = rho i * sin (phi i)) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> A i j = diagonal (rotated_block alpha beta) i j) ->
  forall p q : R,
  learned_score n w A p q = sum (fun i => rho i * cos ((q - p) * w i + phi i)) (below n).
Proof.
  intros n w A alpha beta rho phi Polar Blocks p q. unfold learned_score, dot.
  apply sum_below. intros i I. destruct (Polar i I) as [Al Be].
  replace (apply n A (PE w q) i) with (apply n (diagonal (rotated_block alpha beta)) (PE w q) i).
  - rewrite apply_diagonal by auto.
    unfold apply_block, rotated_block, dot2, PE; simpl. rewrite Al, Be.
    replace ((q - p) * w i) with (q * w i - p * w i) by ring.
    rewrite cos_plus, cos_minus, sin_minus. ring.
  - unfold apply. f_equal; apply sum_below; intros j J; now rewrite Blocks.
Qed.

(** Every block of this form has a size rho and an angle phi, so the last theorem speaks of all. *)
Theorem every_block_has_size_and_angle : forall alpha beta : R,
  exists rho phi, 0 <= rho /\ alpha = rho * cos phi /\ beta = rho * sin phi.
Proof.
  intros alpha beta. destruct (polar (alpha, beta)) as [phi E].
  exists (length2 (alpha, beta)), phi. injection E as A B.
  split; [apply sqrt_pos|auto].
Qed.

(** Shifting one side of a product forwards is shifting the other back. *)
Lemma shift_dot : forall n w k x y,
  dot n (apply n (shift_matrix w k) x) y = dot n x (apply n (shift_matrix w (- k)) y).
Proof.
  intros. unfold dot. apply sum_below. intros i I. unfold shift_matrix.
  rewrite !apply_diagonal by auto. unfold apply_block, shift_block, dot2; simpl.
  replace (- k * w i) with (- (k * w i)) by ring.
  rewrite cos_neg, sin_neg. ring.
Qed.

Lemma dot_comm : forall n x y, dot n x y = dot n y x.
Proof. intros. unfold dot. apply sum_below. intros. unfold dot2. ring. Qed.

Lemma turned_back : forall w i k a b,
  apply_block (shift_block w (- 1) i) b = apply_block (shift_block w k i) a ->
  b = apply_block (shift_block w (k + 1) i) a.
Proof.
  intros w i k [a1 a2] [b1 b2]. unfold apply_block, shift_block, dot2; simpl.
  replace (-1 * w i) with (- w i) by ring. rewrite cos_neg, sin_neg. intros H.
  injection H as H1 H2.
  rewrite Rmult_plus_distr_r, Rmult_1_l, sin_plus, cos_plus.
  pose proof (sin2_cos2 (w i)) as T. unfold Rsqr in T.
  set (s := sin (w i)) in *. set (c := cos (w i)) in *. f_equal.
  - transitivity (c * (c * b1 + - s * b2) + s * (- - s * b1 + c * b2)).
    + transitivity ((s * s + c * c) * b1); [rewrite T|]; ring.
    + rewrite H1, H2. ring.
  - transitivity (- s * (c * b1 + - s * b2) + c * (- - s * b1 + c * b2)).
    + transitivity ((s * s + c * c) * b2); [rewrite T|]; ring.
    + rewrite H1, H2. ring.
Qed.

(** Theorem 4.11 (which matrices see relative positions): the score depends on [q - p] alone, for
    all integers, if and only if the matrix consists of one rotated block for each pair. *)
Theorem relative_scores_need_rotated_blocks : forall n w A, different_frequencies n w ->
  (forall p q p' q' : Z, (q - p = q' - p')%Z ->
     learned_score n w A (IZR p) (IZR q) = learned_score n w A (IZR p') (IZR q')) <->
  exists alpha beta, forall i j, (i < n)%nat -> (j < n)%nat ->
     A i j = diagonal (rotated_block alpha beta) i j.
Proof.
  intros n w A D. split.
  - intros Rel.
    (* what the matrix makes of row [q] *)
    set (u := fun q : nat => apply n A (PE w (INR q))).
    (* it turns from row to row as the rows do *)
    assert (Turns : forall q i, (i < n)%nat ->
      u q i = apply_block (shift_block w (- 1) i) (u (S q) i)).
    { intros q i I. unfold shift_block at 1. symmetry.
      change (apply_block (shift_block w (-1) i) (u (S q) i) = u q i).
      rewrite <- (apply_diagonal n (shift_block w (-1)) (u (S q)) i I).
      revert i I. apply (rows_determine n w); auto. intros p.
      rewrite dot_comm. change (diagonal (shift_block w (-1))) with (shift_matrix w (- (1))).
      rewrite <- shift_dot, (dot_comm n (u q)).
      transitivity (learned_score n w A (IZR (Z.of_nat (S p))) (IZR (Z.of_nat (S q)))).
      - unfold learned_score. rewrite <- !INR_IZR_INZ. rewrite (S_INR p). unfold dot.
        apply sum_below. intros i I. now rewrite shift_is_a_rotation.
      - rewrite (Rel _ _ (Z.of_nat p) (Z.of_nat q)) by lia.
        unfold learned_score. now rewrite <- !INR_IZR_INZ. }
    (* so it is a wave of that pair's own frequency *)
    assert (Wave : forall q i, (i < n)%nat ->
      u q i = apply_block (shift_block w (INR q) i) (u 0%nat i)).
    { induction q as [|q IH]; intros i I.
      - destruct (u 0%nat i) as [a b]. unfold shift_block, apply_block, dot2; simpl.
        rewrite Rmult_0_l, sin_0, cos_0. f_equal; ring.
      - rewrite S_INR. apply turned_back. rewrite <- (Turns q i I). now apply IH. }
    (* and the matrix is known from what it does to the rows *)
    exists (fun i => snd (u 0%nat i)), (fun i => fst (u 0%nat i)).
    apply (rows_determine_a_matrix n w); auto. intros q i I.
    rewrite apply_diagonal by auto. fold (u q). rewrite (Wave q i I).
    unfold rotated_block. cbv beta. destruct (u 0%nat i) as [a b].
    unfold apply_block, shift_block, dot2, PE; simpl. f_equal; ring.
  - intros [alpha [beta Blocks]] p q p' q' E.
    (* every block has a size and an angle *)
    assert (Polar : forall i, exists a : R, alpha i = length2 (alpha i, beta i) * cos a /\
                                          beta i = length2 (alpha i, beta i) * sin a).
    { intros i. destruct (polar (alpha i, beta i)) as [a H]. exists a.
      now injection H as H1 H2. }
    assert (All : exists phi : nat -> R, forall i, (i < n)%nat ->
      alpha i = length2 (alpha i, beta i) * cos (phi i) /\
      beta i = length2 (alpha i, beta i) * sin (phi i)).
    { clear - Polar. induction n as [|n [phi IH]].
      - exists (fun _ => 0). intros; lia.
      - destruct (Polar n) as [a H]. exists (fun i => if Nat.eqb i n then a else phi i).
        intros i I. destruct (Nat.eqb i n) eqn:Q.
        + apply Nat.eqb_eq in Q. now subst.
        + apply Nat.eqb_neq in Q. apply IH. lia. }
    destruct All as [phi All].
    rewrite !(rotated_blocks_score_by_the_offset n w A alpha beta _ phi All Blocks).
    now rewrite <- !minus_IZR, E.
Qed.

(** ** Wavelengths *)

Definition wavelength (b : R) (n i : nat) : R := 2 * PI / frequency b n i.

Lemma wavelength_power : forall b n i, (0 < n)%nat ->
  wavelength b n i = 2 * PI * Rpower b (2 * INR i / (2 * INR n)).
Proof.
  intros. unfold wavelength, frequency, Rdiv at 1. rewrite Rpower_Ropp, Rinv_inv. reflexivity.
Qed.

(** Theorem 4.12 (the spectrum): (a) wavelengths grow by the same factor from pair to pair, from 2pi
    to 2pi b^(1 - 2/d), with d = 2n. *)
Theorem wavelengths_grow_by_one_factor : forall b n, 0 < b -> (0 < n)%nat ->
  (forall i, wavelength b n (S i) = Rpower b (2 / (2 * INR n)) * wavelength b n i) /\
  wavelength b n 0 = 2 * PI /\
  wavelength b n (n - 1) = 2 * PI * Rpower b (1 - 2 / (2 * INR n)).
Proof.
  intros b n B N. assert (P : INR n <> 0) by (apply not_0_INR; lia).
  repeat split; [intros i| |]; rewrite !wavelength_power by auto.
  - transitivity (2 * PI * (Rpower b (2 / (2 * INR n)) * Rpower b (2 * INR i / (2 * INR n))));
      [|ring]. rewrite <- Rpower_plus. do 2 f_equal. rewrite S_INR. field. auto.
  - replace (2 * INR 0 / (2 * INR n)) with 0 by (simpl; field; auto).
    rewrite Rpower_O by auto. ring.
  - do 2 f_equal. rewrite minus_INR by lia. simpl. field. auto.
Qed.

(** (b) The longest grows with the width, and stays below 2 pi b at every width. *)
Theorem the_longest_wavelength_stays_below : forall b n, 1 < b -> (0 < n)%nat ->
  wavelength b n (n - 1) = Rpower b (- (2 / (2 * INR n))) * (2 * PI * b) /\
  wavelength b n (n - 1) < 2 * PI * b /\
  wavelength b n (n - 1) < wavelength b (S n) (S n - 1).
Proof.
  intros b n B N. assert (P : 0 < INR n) by now apply lt_0_INR.
  assert (E : forall m, (0 < m)%nat ->
    wavelength b m (m - 1) = Rpower b (- (2 / (2 * INR m))) * (2 * PI * b)).
  { intros m M. destruct (wavelengths_grow_by_one_factor b m) as [_ [_ ->]]; auto; [lra|].
    unfold Rminus. rewrite Rplus_comm, Rpower_plus, Rpower_1 by lra. ring. }
  assert (T : 0 < 2 * PI * b) by (pose proof PI_RGT_0; nra).
  rewrite !E by lia. split; [auto|split].
  - rewrite <- (Rmult_1_l (2 * PI * b)) at 2. apply Rmult_lt_compat_r; auto.
    rewrite <- (Rpower_O b) by lra. apply Rpower_lt; auto.
    assert (0 < 2 / (2 * INR n)) by (apply Rdiv_lt_0_compat; lra). lra.
  - apply Rmult_lt_compat_r; auto. apply Rpower_lt; auto. apply Ropp_lt_contravar.
    unfold Rdiv. apply Rmult_lt_compat_l; [lra|]. apply Rinv_lt_contravar; rewrite S_INR; nra.
Qed.

(** (c) From a position to the one [L] further on, a pair makes at least one full turn if and only
    if it is one of the first. *)
Theorem pairs_that_make_a_full_turn : forall b n i L, 1 < b -> (0 < n)%nat -> 0 < L ->
  2 * PI <= L * frequency b n i <-> INR i <= 2 * INR n / 2 * (ln (L / (2 * PI)) / ln b).
Proof.
  intros b n i L B N Lp. assert (P : 0 < INR n) by now apply lt_0_INR.
  pose proof PI_RGT_0 as Pi.
  assert (Lb : 0 < ln b) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Q : 0 < L / (2 * PI)) by (apply Rdiv_lt_0_compat; lra).
  rewrite frequency_exp by auto.
  set (t := INR i / INR n * ln b).
  assert (R1 : INR i <= 2 * INR n / 2 * (ln (L / (2 * PI)) / ln b) <-> t <= ln (L / (2 * PI))).
  { unfold t. split; intros H.
    - apply Rmult_le_reg_r with (INR n / ln b); [apply Rdiv_lt_0_compat; auto|].
      field_simplify; [|lra|lra]. field_simplify in H; [|lra]. lra.
    - apply Rmult_le_reg_r with (ln b / INR n); [apply Rdiv_lt_0_compat; auto|].
      field_simplify; [|lra|lra]. field_simplify in H; [|lra]. field_simplify; lra. }
  rewrite R1. clear R1. rewrite <- (exp_ln L) at 1 by auto.
  assert (Split : ln L = ln (L / (2 * PI)) + ln (2 * PI)).
  { rewrite <- ln_mult by lra. f_equal. field. lra. }
  rewrite <- exp_plus. rewrite <- (exp_ln (2 * PI)) at 1 by lra. split; intros H.
  - destruct (Rle_lt_dec t (ln (L / (2 * PI)))) as [G|G]; auto.
    assert (exp (ln L + - t) < exp (ln (2 * PI))) by (apply exp_increasing; lra). lra.
  - destruct H as [H|H].
    + apply Rlt_le, exp_increasing. lra.
    + right. f_equal. lra.
Qed.
