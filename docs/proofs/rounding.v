(** * Rounding: the bounds that docstrings promise

    Every operation of the code is written down: the exact result, rounded. The library's own
    functions, such as sine and power, are any functions that keep the errors named as
    hypotheses. *)

From Coq Require Import Reals List Lra Lia ZArith.
From Flocq Require Import Core Relative.
From Interval Require Import Tactic.
From Book Require Import definitions sinusoidal.
Open Scope R_scope.

(** A float64 is a multiple of 2^-1074 with 53 binary digits, a float32 one of 2^-149 with 24.
    Results are rounded to the nearest, and in a tie to the even one. *)
Definition double := FLT_exp (-1074) 53.
Definition single := FLT_exp (-149) 24.
Definition rnd64 (x : R) : R := round radix2 double ZnearestE x.
Definition rnd32 (x : R) : R := round radix2 single ZnearestE x.

#[global] Instance digits_53 : Prec_gt_0 53 := eq_refl.
#[global] Instance digits_24 : Prec_gt_0 24 := eq_refl.
#[global] Instance double_valid : Valid_exp double := FLT_exp_valid (-1074) 53.
#[global] Instance single_valid : Valid_exp single := FLT_exp_valid (-149) 24.

(** ** ALiBi's slopes *)

(** The code computes exp2(-8 c / (2 n)) with whole numbers [c], [n] being a power of two, 2^k. *)
Definition exact_exponent (c k : Z) : R := IZR (- 8 * c) / IZR (2 * 2 ^ k).

(** That exponent is a float64: nothing is rounded before the power. *)
Theorem alibi_exponent_is_exact : forall c k : Z,
  (0 <= k <= 1000)%Z -> (0 <= 8 * c < 2 ^ 53)%Z ->
  rnd64 (exact_exponent c k) = exact_exponent c k.
Proof.
  intros c k K C. apply round_generic; [apply valid_rnd_N|].
  apply generic_format_FLT. exists (Float radix2 (- 8 * c) (- (k + 1))); cbn [Fnum Fexp].
  - unfold F2R. cbn [Fnum Fexp]. unfold exact_exponent, Rdiv. f_equal.
    rewrite bpow_opp. f_equal. rewrite <- IZR_Zpower by lia.
    change (radix_val radix2) with 2%Z. rewrite Z.pow_add_r by lia. f_equal. lia.
  - change (radix_val radix2 ^ 53)%Z with (2 ^ 53)%Z. lia.
  - lia.
Qed.

(** So a slope is off by at most one unit in its last place, and a power of two is exact, if the
    library's exp2 is so at the float64 numbers from -8 to 0. With 2^k heads, or that many and some
    more, [c] is at most 2 * 2^k. *)
Theorem alibi_slope_is_within_an_ulp : forall exp2 : R -> R,
  (forall x, generic_format radix2 double x -> -8 <= x <= 0 ->
     Rabs (exp2 x - Rpower 2 x) <= ulp radix2 double (Rpower 2 x)) ->
  (forall z : Z, (-8 <= z <= 0)%Z -> exp2 (IZR z) = bpow radix2 z) ->
  forall c k : Z, (0 <= k <= 48)%Z -> (0 <= c <= 2 * 2 ^ k)%Z ->
  let slope := exp2 (rnd64 (exact_exponent c k)) in
  let exact := Rpower 2 (exact_exponent c k) in
  Rabs (slope - exact) <= ulp radix2 double exact /\
  (forall z : Z, exact_exponent c k = IZR z -> slope = exact).
Proof.
  intros exp2 Ulp Whole c k K C slope exact. unfold slope.
  assert (K2 : (2 ^ k <= 2 ^ 48)%Z) by (apply Z.pow_le_mono_r; lia).
  assert (P : (0 < 2 ^ k)%Z) by (apply Z.pow_pos_nonneg; lia).
  assert (Same : rnd64 (exact_exponent c k) = exact_exponent c k)
    by (apply alibi_exponent_is_exact; lia).
  (* exponents lie between -8 and 0 *)
  assert (Range : -8 <= exact_exponent c k <= 0).
  { unfold exact_exponent. apply IZR_lt in P. destruct C as [C0 C2].
    apply IZR_le in C0, C2. rewrite mult_IZR in C2. rewrite !mult_IZR.
    split; apply Rmult_le_reg_r with (2 * IZR (2 ^ k)); try lra;
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; lra. }
  split.
  - rewrite Same. apply Ulp; auto.
    rewrite <- Same. apply generic_format_round; [apply double_valid|]. apply valid_rnd_N.
  - intros z E. rewrite Same. unfold exact. rewrite E in *.
    assert (Z : (-8 <= z <= 0)%Z) by (split; apply le_IZR; lra). rewrite Whole by auto.
    (* a whole power of two in both notations *)
    rewrite bpow_powerRZ. simpl. rewrite powerRZ_Rpower by lra. reflexivity.
Qed.

(** ** The sinusoidal encoding in float64 *)

(** Half a unit in the last place of 1. *)
Definition u : R := / 2 * bpow radix2 (-52).

Lemma u_value : u = / 9007199254740992.
Proof. unfold u. simpl. lra. Qed.

(** Half of the smallest float64 is no more than 1e-50. *)
Lemma tiny : / 2 * bpow radix2 (-1074) <= / 10 ^ 50.
Proof.
  apply Rle_trans with (bpow radix2 (-200)).
  - assert (bpow radix2 (-1074) <= bpow radix2 (-200)) by (apply bpow_le; lia).
    pose proof (bpow_ge_0 radix2 (-1074)). lra.
  - simpl. lra.
Qed.

(** A rounded number, by a relative and an absolute error. *)
Lemma rnd64_error : forall x, Rabs (rnd64 x - x) <= u * Rabs x + / 10 ^ 50.
Proof.
  intros x. destruct (error_N_FLT radix2 (-1074) 53 eq_refl (fun z => negb (Z.even z)) x)
    as [eps [eta [E1 [E2 [_ E]]]]].
  unfold rnd64, double. rewrite E. replace (x * (1 + eps) + eta - x) with (eps * x + eta) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_mult.
  apply Rplus_le_compat.
  - apply Rmult_le_compat_r; [apply Rabs_pos|]. exact E1.
  - apply Rle_trans with (1 := E2). exact tiny.
Qed.

Lemma sine_lipschitz : forall a b, Rabs (sin a - sin b) <= Rabs (a - b).
Proof.
  intros. rewrite form4, !Rabs_mult, (Rabs_pos_eq 2) by lra.
  pose proof (sine_is_below_angle ((a - b) / 2)) as S.
  unfold Rdiv in S at 2. rewrite Rabs_mult, (Rabs_pos_eq (/ 2)) in S by lra.
  assert (C : Rabs (cos ((a + b) / 2)) <= 1) by (apply Rabs_le; apply COS_bound).
  pose proof (Rabs_pos (cos ((a + b) / 2))). pose proof (Rabs_pos (sin ((a - b) / 2))). nra.
Qed.

Lemma cosine_lipschitz : forall a b, Rabs (cos a - cos b) <= Rabs (a - b).
Proof.
  intros. rewrite !cos_sin. apply Rle_trans with (1 := sine_lipschitz _ _).
  right. f_equal. ring.
Qed.

(** t e^(-t) is at most 1/e. *)
Lemma peak : forall t, t * exp (- t) <= 0.368.
Proof.
  intros t. pose proof (exp_ineq1_le (t - 1)) as E.
  assert (X : exp (t - 1) * exp (- t) = exp (- 1)) by (rewrite <- exp_plus; f_equal; ring).
  assert (exp (- 1) <= 0.368) by interval with (i_prec 40).
  pose proof (exp_pos (- t)). nra.
Qed.

(** The angle of pair [i] at position [p] as the code computes it: the exponent -2i/d, the power,
    and the product, each rounded. *)
Definition computed_angle (pow : R -> R -> R) (b : R) (n i : nat) (p : R) : R :=
  rnd64 (p * pow b (rnd64 (- (2 * INR i / (2 * INR n))))).

(** The library's power is off by at most one unit in its last place, at every float64 exponent. *)
Definition good_power (pow : R -> R -> R) (b : R) : Prop :=
  forall e, generic_format radix2 double e -> -1 <= e <= 0 ->
  Rabs (pow b e - Rpower b e) <= bpow radix2 (-52) * Rpower b e.

Lemma minus_1_double : generic_format radix2 double (-1).
Proof.
  replace (-1) with (- bpow radix2 0) by (simpl; ring).
  apply generic_format_opp, generic_format_bpow. unfold double, FLT_exp. lia.
Qed.

Lemma rnd64_double : forall x, generic_format radix2 double (rnd64 x).
Proof. intros. apply generic_format_round; [apply double_valid|apply valid_rnd_N]. Qed.

(** How far the computed angle is off. *)
Lemma angle_error : forall pow b n i p, 1 < b <= 10 ^ 300 -> (i < n)%nat -> good_power pow b ->
  Rabs (computed_angle pow b n i p - p * frequency b n i) <= 3.39 * u * Rabs p + / 10 ^ 50.
Proof.
  intros pow b n i p [B B300] I Good.
  set (e := - (2 * INR i / (2 * INR n))). unfold computed_angle. fold e.
  assert (P : 0 < INR n) by (apply lt_0_INR; lia).
  assert (U := u_value).
  (* the exponent lies between -1 and 0, and so does the rounded one *)
  assert (E : -1 <= e <= 0).
  { unfold e. assert (H : 0 <= 2 * INR i / (2 * INR n) <= 1); [|lra]. split.
    - apply Rmult_le_pos; [pose proof (pos_INR i); lra|]. apply Rlt_le, Rinv_0_lt_compat. lra.
    - apply Rmult_le_reg_r with (2 * INR n); [lra|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
      assert (INR i <= INR n) by (apply le_INR; lia). lra. }
  assert (E' : -1 <= rnd64 e <= 0).
  { split.
    - apply round_ge_generic; [apply double_valid|apply valid_rnd_N|apply minus_1_double|lra].
    - apply round_le_generic; [apply double_valid|apply valid_rnd_N|apply generic_format_0|lra]. }
  (* what its rounding does to the frequency *)
  assert (Lb : 0 < ln b) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Lb' : ln b <= 700).
  { apply Rle_trans with (ln (10 ^ 300)).
    - destruct (Rle_lt_or_eq_dec _ _ B300) as [L| -> ]; [apply Rlt_le, ln_increasing; lra|lra].
    - replace (10 ^ 300) with (Rpower 10 (INR 300)) by (apply Rpower_pow; lra).
      unfold Rpower. rewrite ln_exp.
      replace (INR 300) with 300 by (rewrite INR_IZR_INZ; reflexivity).
      interval with (i_prec 40). }
  set (t := - e * ln b).
  assert (T : 0 <= t <= 700) by (unfold t; split; nra).
  set (D := (rnd64 e - e) * ln b).
  assert (Abs : Rabs D <= u * t + / 10 ^ 47).
  { unfold D. rewrite Rabs_mult, (Rabs_pos_eq (ln b)) by lra.
    apply Rle_trans with ((u * - e + / 10 ^ 50) * ln b).
    - apply Rmult_le_compat_r; [lra|]. pose proof (rnd64_error e) as H.
      rewrite (Rabs_left1 e) in H by lra. exact H.
    - unfold t. assert (/ 10 ^ 50 * ln b <= / 10 ^ 47); [|lra].
      apply Rle_trans with (/ 10 ^ 50 * 700); [|lra].
      apply Rmult_le_compat_l; [|lra]. lra. }
  assert (SmallD : Rabs D <= / 10 ^ 12).
  { apply Rle_trans with (1 := Abs). rewrite U. lra. }
  assert (Om : Rpower b e = exp (- t)) by (unfold Rpower, t; f_equal; ring).
  assert (Om' : Rpower b (rnd64 e) = exp (- t) * exp D).
  { unfold Rpower. rewrite <- exp_plus. f_equal. unfold t, D. ring. }
  assert (ExpD : Rabs (exp D - 1) <= 1.001 * Rabs D).
  { destruct (Req_dec D 0) as [ -> |ND].
    - rewrite exp_0, Rminus_diag_eq, Rabs_R0 by auto. lra.
    - apply Rabs_le_inv in SmallD. pose proof (exp_ineq1_le D) as L1.
      pose proof (exp_ineq1_le (- D)) as L2.
      assert (X : exp D * exp (- D) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
      pose proof (exp_pos D).
      (* 1 + D <= e^D <= 1 / (1 - D) *)
      assert (Up : exp D * (1 - D) <= 1) by nra.
      unfold Rabs at 2. destruct (Rcase_abs D).
      + apply Rabs_le. split; nra.
      + apply Rabs_le. split; nra. }
  pose proof (exp_pos (- t)) as Pos.
  assert (Le1 : exp (- t) <= 1).
  { rewrite <- exp_0. destruct (Req_dec t 0) as [ -> |]; [rewrite Ropp_0; lra|].
    apply Rlt_le, exp_increasing. lra. }
  assert (W : Rabs (Rpower b (rnd64 e) - Rpower b e) <= 0.3685 * u + / 10 ^ 46).
  { rewrite Om, Om'. replace (exp (- t) * exp D - exp (- t)) with (exp (- t) * (exp D - 1)) by ring.
    rewrite Rabs_mult, (Rabs_pos_eq (exp (- t))) by lra.
    apply Rle_trans with (exp (- t) * (1.001 * (u * t + / 10 ^ 47))).
    - apply Rmult_le_compat_l; lra.
    - pose proof (peak t) as K. assert (0 < u) by (rewrite U; lra). nra. }
  (* the library's power *)
  set (w := Rpower b e) in *. set (w' := Rpower b (rnd64 e)) in *. set (v := pow b (rnd64 e)).
  assert (V : Rabs (v - w') <= 2 * u * w').
  { apply Rle_trans with (1 := Good (rnd64 e) (rnd64_double e) E'). right. unfold u, w'. field. }
  assert (W1 : 0 < w' <= 1).
  { unfold w', Rpower. split; [apply exp_pos|].
    rewrite <- exp_0. assert (H : rnd64 e * ln b <= 0) by nra.
    destruct H as [H|H]; [apply Rlt_le, exp_increasing; lra|rewrite H; lra]. }
  assert (Vw : Rabs (v - w) <= 2.369 * u).
  { replace (v - w) with ((v - w') + (w' - w)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _).
    assert (2 * u * w' <= 2 * u) by (rewrite U; nra). rewrite U in *. lra. }
  assert (Va : Rabs v <= 1 + 3 * u).
  { replace v with (w + (v - w)) by ring. apply Rle_trans with (1 := Rabs_triang _ _).
    assert (Rabs w <= 1) by (rewrite Om, Rabs_pos_eq; lra). rewrite U in *. lra. }
  (* the product *)
  replace (rnd64 (p * v) - p * frequency b n i) with
    ((rnd64 (p * v) - p * v) + p * (v - w)) by (unfold w, e, frequency; ring).
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_mult.
  pose proof (rnd64_error (p * v)) as H. rewrite Rabs_mult in H.
  pose proof (Rabs_pos p) as Pp.
  assert (A1 : Rabs p * Rabs (v - w) <= Rabs p * (2.369 * u)) by now apply Rmult_le_compat_l.
  assert (A2 : Rabs p * Rabs v <= Rabs p * (1 + 3 * u)) by now apply Rmult_le_compat_l.
  rewrite U in *. lra.
Qed.

(** The promise of [sinusoidal_encoding]: with a base above 1, and up to the largest that the code
    accepts, a float64 entry is within 4e-16 (1 + |p|) of the exact value, if the library's power,
    sine and cosine are off by no more than a unit in the last place. *)
Theorem sinusoidal_encoding_error : forall (pow : R -> R -> R) (sine cosine : R -> R) (b : R),
  good_power pow b ->
  (forall x, generic_format radix2 double x -> Rabs (sine x - sin x) <= bpow radix2 (-52)) ->
  (forall x, generic_format radix2 double x -> Rabs (cosine x - cos x) <= bpow radix2 (-52)) ->
  1 < b <= 10 ^ 300 ->
  forall n i p, (i < n)%nat ->
  Rabs (sine (computed_angle pow b n i p) - fst (PE (frequency b n) p i)) <= 4e-16 * (1 + Rabs p) /\
  Rabs (cosine (computed_angle pow b n i p) - snd (PE (frequency b n) p i)) <= 4e-16 * (1 + Rabs p).
Proof.
  intros pow sine cosine b Good Sin Cos B n i p I.
  pose proof (angle_error pow b n i p B I Good) as A.
  set (a := computed_angle pow b n i p) in *. simpl fst; simpl snd.
  set (x := p * frequency b n i) in *. pose proof (Rabs_pos p).
  assert (Bp : bpow radix2 (-52) = 2 * u) by (unfold u; field).
  pose proof u_value as U.
  split.
  - replace (sine a - sin x) with ((sine a - sin a) + (sin a - sin x)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _).
    pose proof (Sin a (rnd64_double _)). pose proof (sine_lipschitz a x). rewrite Bp, U in *. lra.
  - replace (cosine a - cos x) with ((cosine a - cos a) + (cos a - cos x)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _).
    pose proof (Cos a (rnd64_double _)). pose proof (cosine_lipschitz a x). rewrite Bp, U in *. lra.
Qed.

(** ** The sinusoidal table in float32 *)

(** What rounding to float32 does to a number no larger than 2^e: half a unit in the last place. *)
Lemma rnd32_error : forall e x, (-100 <= e)%Z -> Rabs x <= bpow radix2 e ->
  Rabs (rnd32 x - x) <= bpow radix2 (e - 25).
Proof.
  intros e x E [L|Eq].
  - destruct (Req_dec x 0) as [ -> |N].
    + unfold rnd32. rewrite round_0, Rminus_diag_eq, Rabs_R0 by (apply valid_rnd_N || auto).
      apply bpow_ge_0.
    + apply Rle_trans with (1 := error_le_half_ulp radix2 single _ x).
      rewrite ulp_neq_0 by auto.
      assert (M : (mag radix2 x <= e)%Z) by (apply mag_le_bpow; auto).
      assert (C : (cexp radix2 single x <= e - 24)%Z) by (unfold cexp, single, FLT_exp; lia).
      apply bpow_le with (r := radix2) in C.
      replace (e - 25)%Z with (-1 + (e - 24))%Z by ring. rewrite bpow_plus.
      replace (bpow radix2 (-1)) with (/ 2) by (simpl; lra). lra.
  - (* a power of two is not rounded at all *)
    assert (G : generic_format radix2 single x).
    { apply generic_format_abs_inv. rewrite Eq. apply generic_format_bpow.
      unfold single, FLT_exp. lia. }
    unfold rnd32. rewrite round_generic, Rminus_diag_eq, Rabs_R0 by (apply valid_rnd_N || auto).
    apply bpow_ge_0.
Qed.

(** No float32 is nearer than the rounded number, and 1 and -1 are float32 numbers. *)
Lemma rnd32_nearest : forall x g,
  generic_format radix2 single g -> Rabs (rnd32 x - x) <= Rabs (g - x).
Proof. intros x g G. now apply (round_N_pt radix2 single (fun z => negb (Z.even z)) x). Qed.

Lemma one_single : generic_format radix2 single 1.
Proof. change 1 with (bpow radix2 0). apply generic_format_bpow. unfold single, FLT_exp. lia. Qed.

(** A factor's part is no larger than 1, or hardly: it was computed in float64. *)
Lemma part_error : forall x, Rabs x <= 1 + / 10 ^ 12 -> Rabs (rnd32 x - x) <= / 2 ^ 25.
Proof.
  intros x X. destruct (Rle_lt_dec (Rabs x) 1) as [L|G].
  - replace (/ 2 ^ 25) with (bpow radix2 (0 - 25)) by (simpl; lra).
    apply rnd32_error; [lia|simpl; auto].
  - apply Rle_trans with (/ 10 ^ 12); [|lra].
    destruct (Rle_lt_dec 0 x) as [P|N].
    + rewrite (Rabs_pos_eq x) in * by auto.
      apply Rle_trans with (1 := rnd32_nearest x 1 one_single).
      apply Rabs_le. lra.
    + rewrite (Rabs_left x) in * by auto.
      apply Rle_trans with (1 := rnd32_nearest x (-1) (generic_format_opp _ _ _ one_single)).
      apply Rabs_le. lra.
Qed.

(** Two numbers that are the parts of a factor: its modulus is 1, or hardly more. *)
Definition unit_factor (x y : R) : Prop := x * x + y * y <= 1 + / 10 ^ 12.

Lemma parts : forall x y, unit_factor x y ->
  Rabs x <= 1 + / 10 ^ 12 /\ Rabs y <= 1 + / 10 ^ 12 /\ Rabs x + Rabs y <= 1.414214.
Proof.
  unfold unit_factor. intros x y F.
  assert (X : x * x = Rabs x * Rabs x)
    by (rewrite <- Rabs_mult, Rabs_pos_eq; [auto|apply Rle_0_sqr]).
  assert (Y : y * y = Rabs y * Rabs y)
    by (rewrite <- Rabs_mult, Rabs_pos_eq; [auto|apply Rle_0_sqr]).
  rewrite X, Y in F. pose proof (Rabs_pos x). pose proof (Rabs_pos y).
  pose proof (Rle_0_sqr (Rabs x - Rabs y)) as S. unfold Rsqr in S.
  repeat split; nra.
Qed.

(** Rounding both factors of a product. *)
Lemma product_of_rounded : forall x c,
  Rabs x <= 1 + / 10 ^ 12 -> Rabs c <= 1 + / 10 ^ 12 ->
  Rabs (rnd32 x * rnd32 c - x * c) <= / 2 ^ 25 * (Rabs x + Rabs c + / 2 ^ 25).
Proof.
  intros x c X C. pose proof (part_error x X) as A. pose proof (part_error c C) as B.
  replace (rnd32 x * rnd32 c - x * c) with
    ((rnd32 x - x) * c + (x * (rnd32 c - c) + (rnd32 x - x) * (rnd32 c - c))) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _).
  apply Rle_trans with (Rabs ((rnd32 x - x) * c) + (Rabs (x * (rnd32 c - c)) +
    Rabs ((rnd32 x - x) * (rnd32 c - c)))).
  { apply Rplus_le_compat_l. apply Rabs_triang. }
  rewrite !Rabs_mult.
  pose proof (Rabs_pos (rnd32 x - x)). pose proof (Rabs_pos (rnd32 c - c)).
  pose proof (Rabs_pos x). pose proof (Rabs_pos c). nra.
Qed.

(** Rounding two products, the sizes of which add up to 1 or hardly more: together no more than a
    unit in the last place. *)
Lemma two_products : forall a b, Rabs a + Rabs b <= 1 + / 2 ^ 21 ->
  Rabs (rnd32 a - a) + Rabs (rnd32 b - b) <= / 2 ^ 24 + / 2 ^ 46.
Proof.
  (* if one of them is larger than 1, the other is tiny *)
  assert (One : forall a b, 1 < Rabs a -> Rabs a + Rabs b <= 1 + / 2 ^ 21 ->
    Rabs (rnd32 a - a) + Rabs (rnd32 b - b) <= / 2 ^ 24 + / 2 ^ 46).
  { intros a b L S. pose proof (Rabs_pos b).
    assert (A : Rabs (rnd32 a - a) <= bpow radix2 (1 - 25)).
    { apply rnd32_error; [lia|]. simpl. lra. }
    assert (B : Rabs (rnd32 b - b) <= bpow radix2 (-21 - 25)).
    { apply rnd32_error; [lia|]. simpl. lra. }
    simpl in A, B. lra. }
  intros a b S. destruct (Rle_lt_dec (Rabs a) 1) as [A|A]; [|now apply One].
  destruct (Rle_lt_dec (Rabs b) 1) as [B|B].
  - assert (A' : Rabs (rnd32 a - a) <= bpow radix2 (0 - 25))
      by (apply rnd32_error; [lia|simpl; auto]).
    assert (B' : Rabs (rnd32 b - b) <= bpow radix2 (0 - 25))
      by (apply rnd32_error; [lia|simpl; auto]).
    simpl in A', B'. lra.
  - rewrite Rplus_comm. apply One; [auto|lra].
Qed.

(** The real part of an entry of [sinusoidal_table] in float32: two factors x + iy and c + id,
    each part rounded once, two products and their difference, each rounded. The imaginary part is
    that of the factors x + iy and d - ic: its sum is the difference of x d and y (-c). *)
Definition computed_part (x y c d : R) : R :=
  rnd32 (rnd32 (rnd32 x * rnd32 c) - rnd32 (rnd32 y * rnd32 d)).

(** Before the last rounding it is off by at most 1.45e-7, *)
Lemma difference_error : forall x y c d, unit_factor x y -> unit_factor c d ->
  Rabs (rnd32 (rnd32 x * rnd32 c) - rnd32 (rnd32 y * rnd32 d) - (x * c - y * d)) <=
  / 2 ^ 25 * (2 * 1.41422) + / 2 ^ 24.
Proof.
  intros x y c d Fx Fc.
  destruct (parts x y Fx) as [X [Y XY]]. destruct (parts c d Fc) as [C [D CD]].
  pose proof (product_of_rounded x c X C) as P. pose proof (product_of_rounded y d Y D) as Q.
  set (a := rnd32 x * rnd32 c) in *. set (b := rnd32 y * rnd32 d) in *.
  (* the exact products add up to 1 at most, in size *)
  assert (Exact : Rabs (x * c) + Rabs (y * d) <= 1 + / 10 ^ 12).
  { rewrite !Rabs_mult. unfold unit_factor in *.
    assert (Sq : forall z, z * z = Rabs z * Rabs z)
      by (intros; rewrite <- Rabs_mult, Rabs_pos_eq; [auto|apply Rle_0_sqr]).
    rewrite (Sq x), (Sq y) in Fx. rewrite (Sq c), (Sq d) in Fc.
    pose proof (Rle_0_sqr (Rabs x - Rabs c)). pose proof (Rle_0_sqr (Rabs y - Rabs d)).
    unfold Rsqr in *. lra. }
  assert (Near : forall r s, Rabs r <= Rabs s + Rabs (r - s)).
  { intros r s. replace r with (s + (r - s)) at 1 by ring. apply Rabs_triang. }
  assert (S : Rabs a + Rabs b <= 1 + / 2 ^ 21).
  { pose proof (Near a (x * c)). pose proof (Near b (y * d)). lra. }
  pose proof (two_products a b S) as T.
  replace (rnd32 a - rnd32 b - (x * c - y * d)) with
    ((rnd32 a - a) + (- (rnd32 b - b) + ((a - x * c) + - (b - y * d)))) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _).
  assert (Tri : forall r s, Rabs (- r + s) <= Rabs r + Rabs s).
  { intros r s. rewrite <- (Rabs_Ropp r). apply Rabs_triang. }
  pose proof (Tri (rnd32 b - b) ((a - x * c) + - (b - y * d))).
  pose proof (Tri (b - y * d) (a - x * c)) as Q'. rewrite Rplus_comm in Q'. lra.
Qed.

Lemma rnd32_single : forall x, generic_format radix2 single (rnd32 x).
Proof. intros. apply generic_format_round; [apply single_valid|apply valid_rnd_N]. Qed.

(** A float32 of size 2^e or more is a multiple of 2^(e - 23), *)
Lemma multiple : forall e r, (-100 <= e)%Z -> generic_format radix2 single r ->
  bpow radix2 e <= Rabs r -> exists m : Z, r = IZR m * bpow radix2 (e - 23).
Proof.
  intros e r E G L. unfold generic_format, F2R in G. cbn [Fnum Fexp] in G.
  assert (N : r <> 0).
  { intros Z. rewrite Z, Rabs_R0 in L. pose proof (bpow_gt_0 radix2 e). lra. }
  assert (M : (e < mag radix2 r)%Z) by now apply mag_gt_bpow.
  set (c := cexp radix2 single r) in *.
  assert (C : (e - 23 <= c)%Z) by (unfold c, cexp, single, FLT_exp; lia).
  exists (Ztrunc (scaled_mantissa radix2 single r) * 2 ^ (c - (e - 23)))%Z.
  rewrite mult_IZR, Rmult_assoc. rewrite G at 1. f_equal.
  change 2%Z with (radix_val radix2) at 1. rewrite IZR_Zpower by lia.
  rewrite <- bpow_plus. f_equal. lia.
Qed.

(** and so is the sum of two such numbers. *)
Lemma multiple_of_sum : forall e r s, (-100 <= e)%Z ->
  bpow radix2 e < Rabs r -> bpow radix2 e < Rabs s ->
  exists m : Z, rnd32 r + rnd32 s = IZR m * bpow radix2 (e - 23).
Proof.
  intros e r s E R S.
  assert (One : forall t, bpow radix2 e < Rabs t ->
    exists m : Z, rnd32 t = IZR m * bpow radix2 (e - 23)).
  { intros t T. apply multiple; [auto|apply rnd32_single|].
    apply abs_round_ge_generic; [apply single_valid|apply valid_rnd_N| |lra].
    apply generic_format_bpow. unfold single, FLT_exp. lia. }
  destruct (One r R) as [m M]. destruct (One s S) as [l L].
  exists (m + l)%Z. rewrite M, L, plus_IZR. ring.
Qed.

Lemma rnd32_opp : forall x, rnd32 (- x) = - rnd32 x.
Proof. intros. apply round_NE_opp. Qed.

(** A factor's part, rounded, is no larger than 1. *)
Lemma rounded_part : forall x, Rabs x <= 1 + / 10 ^ 12 -> Rabs (rnd32 x) <= 1.
Proof.
  intros x X. destruct (Rle_lt_dec (Rabs (rnd32 x)) 1) as [L|G]; auto.
  destruct (multiple 0 (rnd32 x)) as [m M]; [lia| |simpl; lra|].
  { apply rnd32_single. }
  pose proof (part_error x X) as E.
  assert (S : Rabs (rnd32 x) <= Rabs x + Rabs (rnd32 x - x)).
  { replace (rnd32 x) with (x + (rnd32 x - x)) at 1 by ring. apply Rabs_triang. }
  (* larger than 1, it would be at least 1 + 2^-23 *)
  rewrite M, Rabs_mult, <- abs_IZR in *.
  rewrite (Rabs_pos_eq (bpow radix2 (0 - 23))) in * by apply bpow_ge_0.
  simpl bpow in *. assert (B : 8388608 < IZR (Z.abs m)) by lra.
  apply lt_IZR in B. assert (B' : (8388609 <= Z.abs m)%Z) by lia. apply IZR_le in B'. lra.
Qed.

(** Half of the way from 1 to the next float32 is rounded down, 1 being even. *)
Lemma tie_at_1 : rnd32 (1 + / 2 ^ 24) = 1.
Proof.
  assert (C : cexp radix2 single (1 + / 2 ^ 24) = (-23)%Z).
  { unfold cexp. replace (mag radix2 (1 + / 2 ^ 24) : Z) with 1%Z; [reflexivity|].
    symmetry. apply mag_unique. rewrite Rabs_pos_eq by lra. simpl. lra. }
  unfold rnd32, round. unfold scaled_mantissa. rewrite C. unfold F2R. cbn [Fnum Fexp].
  replace ((1 + / 2 ^ 24) * bpow radix2 (- -23)) with (IZR 8388608 + / 2) by (simpl; lra).
  unfold Znearest.
  assert (F : Zfloor (IZR 8388608 + / 2) = 8388608%Z) by (apply Zfloor_imp; rewrite plus_IZR; lra).
  rewrite F. replace (IZR 8388608 + / 2 - IZR 8388608) with (/ 2) by ring.
  rewrite Rcompare_Eq by reflexivity. simpl. lra.
Qed.

(** The sizes of both parts of both factors. *)
Lemma four_parts : forall x y c d, unit_factor x y -> unit_factor c d ->
  Rabs (x * c - y * d) <= 1 + / 10 ^ 12 /\ Rabs x + Rabs c + (Rabs y + Rabs d) <= 2 * 1.414214.
Proof.
  intros x y c d Fx Fc.
  destruct (parts x y Fx) as [_ [_ XY]]. destruct (parts c d Fc) as [_ [_ CD]].
  split; [|lra]. unfold unit_factor in *.
  pose proof (Rle_0_sqr (x - c)). pose proof (Rle_0_sqr (y + d)).
  pose proof (Rle_0_sqr (x + c)). pose proof (Rle_0_sqr (y - d)).
  unfold Rsqr in *. apply Rabs_le. lra.
Qed.

(** Rounding two products: how far their difference is off, if the second is small. *)
Lemma small_second_product : forall e x y c d, (-3 <= e <= 0)%Z ->
  unit_factor x y -> unit_factor c d -> Rabs (rnd32 y * rnd32 d) <= bpow radix2 e ->
  Rabs (rnd32 (rnd32 x * rnd32 c) - rnd32 (rnd32 y * rnd32 d) - (x * c - y * d)) <=
  / 2 ^ 25 * (Rabs x + Rabs c + (Rabs y + Rabs d) + / 2 ^ 24) + / 2 ^ 25 + bpow radix2 (e - 25).
Proof.
  intros e x y c d E Fx Fc B.
  destruct (parts x y Fx) as [X [Y _]]. destruct (parts c d Fc) as [C [D _]].
  pose proof (product_of_rounded x c X C) as P. pose proof (product_of_rounded y d Y D) as Q.
  assert (A : Rabs (rnd32 x * rnd32 c) <= bpow radix2 0).
  { simpl. rewrite Rabs_mult. pose proof (rounded_part x X). pose proof (rounded_part c C).
    pose proof (Rabs_pos (rnd32 x)). pose proof (Rabs_pos (rnd32 c)). nra. }
  apply rnd32_error in A; [|lia]. apply rnd32_error in B; [|lia].
  set (a := rnd32 x * rnd32 c) in *. set (b := rnd32 y * rnd32 d) in *.
  simpl in A.
  replace (rnd32 a - rnd32 b - (x * c - y * d)) with
    ((rnd32 a - a) + (- (rnd32 b - b) + ((a - x * c) + - (b - y * d)))) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _).
  assert (Tri : forall r s, Rabs (- r + s) <= Rabs r + Rabs s).
  { intros r s. rewrite <- (Rabs_Ropp r). apply Rabs_triang. }
  pose proof (Tri (rnd32 b - b) ((a - x * c) + - (b - y * d))).
  pose proof (Tri (b - y * d) (a - x * c)) as Q'. rewrite Rplus_comm in Q'. lra.
Qed.

(** Where the difference is above 1: up to half of the way to the next float32 it becomes 1,
    and beyond it that one at most. *)
Lemma rounded_above_1 : forall s, 1 < s <= 1 + 1.5e-7 ->
  1 <= rnd32 s /\ (s <= 1 + / 2 ^ 24 -> rnd32 s = 1) /\ rnd32 s <= 1 + / 2 ^ 23.
Proof.
  intros s [S1 S2].
  assert (One : 1 <= rnd32 s).
  { apply round_ge_generic; [apply single_valid|apply valid_rnd_N|apply one_single|lra]. }
  split; [auto|split].
  - intros L. apply Rle_antisym; [|auto]. rewrite <- tie_at_1.
    apply round_le; [apply single_valid|apply valid_rnd_N|auto].
  - assert (E : Rabs (rnd32 s - s) <= bpow radix2 (1 - 25)).
    { apply rnd32_error; [lia|]. rewrite Rabs_pos_eq by lra. simpl. lra. }
    destruct (multiple 0 (rnd32 s)) as [m M]; [lia| | |].
    { apply rnd32_single. }
    { simpl. rewrite Rabs_pos_eq; lra. }
    simpl bpow in E, M. apply Rabs_le_inv in E.
    assert (U : IZR m < 8388610) by lra. apply lt_IZR in U.
    assert (U' : (m <= 8388609)%Z) by lia. apply IZR_le in U'. lra.
Qed.

(** There one of the two products may be small, *)
Lemma above_1_small : forall x y c d, unit_factor x y -> unit_factor c d ->
  Rabs (rnd32 y * rnd32 d) <= / 4 ->
  1 < rnd32 (rnd32 x * rnd32 c) - rnd32 (rnd32 y * rnd32 d) ->
  Rabs (computed_part x y c d - (x * c - y * d)) <= 1.75e-7.
Proof.
  intros x y c d Fx Fc B S.
  destruct (four_parts x y c d Fx Fc) as [E F].
  destruct (parts x y Fx) as [X [Y _]]. destruct (parts c d Fc) as [C [D _]].
  pose proof (difference_error x y c d Fx Fc) as P.
  pose proof (product_of_rounded y d Y D) as Q.
  unfold computed_part.
  set (s := rnd32 (rnd32 x * rnd32 c) - rnd32 (rnd32 y * rnd32 d)) in *.
  apply Rabs_le_inv in P. apply Rabs_le_inv in E.
  destruct (rounded_above_1 s) as [One [Tie Next]]; [lra|].
  destruct (Rle_lt_dec s (1 + / 2 ^ 24)) as [L|G].
  { rewrite (Tie L). apply Rabs_le. lra. }
  (* beyond the middle, what was rounded up was off less *)
  assert (Up : x * c - y * d >= 1 + / 2 ^ 23 - 1.75e-7 ->
    Rabs (rnd32 s - (x * c - y * d)) <= 1.75e-7)
    by (intros; apply Rabs_le; lra).
  apply Up. clear Up Tie.
  destruct (Rle_lt_dec (Rabs (rnd32 y * rnd32 d)) (/ 8)) as [T|T].
  - (* the second product is below 1/8: so are y and d small *)
    pose proof (small_second_product (-3) x y c d ltac:(lia) Fx Fc ltac:(simpl; lra)) as P'.
    fold s in P'. simpl bpow in P'.
    assert (Small : Rabs y + Rabs d <= 0.7085).
    { pose proof (Rabs_pos y). pose proof (Rabs_pos d).
      assert (YD : Rabs (y * d) <= / 8 + / 2 ^ 20).
      { replace (y * d) with (rnd32 y * rnd32 d + - (rnd32 y * rnd32 d - y * d)) by ring.
        apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp. lra. }
      assert (Near : (y + d) * (y + d) <= / 10 ^ 5).
      { pose proof (Rle_0_sqr (x - c)) as V. unfold Rsqr, unit_factor in *. lra. }
      assert (Sq : (Rabs y + Rabs d) * (Rabs y + Rabs d) <= (y + d) * (y + d) + 4 * Rabs (y * d)).
      { rewrite Rabs_mult. unfold Rabs. destruct (Rcase_abs y), (Rcase_abs d); nra. }
      nra. }
    apply Rabs_le_inv in P'. lra.
  - (* it is a multiple of 2^-26, and so is the first, which is larger *)
    pose proof (small_second_product (-2) x y c d ltac:(lia) Fx Fc ltac:(simpl; lra)) as P'.
    fold s in P'. simpl bpow in P'.
    assert (A : / 8 < Rabs (rnd32 x * rnd32 c)).
    { destruct (Rle_lt_dec (Rabs (rnd32 x * rnd32 c)) (/ 8)) as [A|A]; auto. exfalso.
      assert (A' : Rabs (rnd32 x * rnd32 c) <= bpow radix2 (-3)) by (simpl; lra).
      assert (B' : Rabs (rnd32 y * rnd32 d) <= bpow radix2 (-2)) by (simpl; lra).
      apply rnd32_error in A'; [|lia]. apply rnd32_error in B'; [|lia]. simpl in A', B'.
      apply Rabs_le_inv in A, A', B, B'. unfold s in *. lra. }
    destruct (multiple_of_sum (-3) (rnd32 x * rnd32 c) (- (rnd32 y * rnd32 d))) as [m M];
      [lia|simpl; lra|rewrite Rabs_Ropp; simpl; lra|].
    rewrite rnd32_opp in M. change (s = IZR m * bpow radix2 (-3 - 23)) in M. simpl bpow in M.
    assert (U : 67108868 < IZR m) by lra. apply lt_IZR in U.
    assert (U' : (67108869 <= m)%Z) by lia. apply IZR_le in U'.
    apply Rabs_le_inv in P'. lra.
Qed.

(** or both are multiples of 2^-25. *)
Lemma above_1 : forall x y c d, unit_factor x y -> unit_factor c d ->
  1 < rnd32 (rnd32 x * rnd32 c) - rnd32 (rnd32 y * rnd32 d) ->
  Rabs (computed_part x y c d - (x * c - y * d)) <= 1.75e-7.
Proof.
  intros x y c d Fx Fc S.
  destruct (Rle_lt_dec (Rabs (rnd32 y * rnd32 d)) (/ 4)) as [B|B]; [now apply above_1_small|].
  destruct (Rle_lt_dec (Rabs (rnd32 x * rnd32 c)) (/ 4)) as [A|A].
  - (* the two products change places *)
    assert (Swap : rnd32 (rnd32 (- y) * rnd32 d) - rnd32 (rnd32 x * rnd32 (- c)) =
                   rnd32 (rnd32 x * rnd32 c) - rnd32 (rnd32 y * rnd32 d)).
    { rewrite !rnd32_opp. replace (- rnd32 y * rnd32 d) with (- (rnd32 y * rnd32 d)) by ring.
      replace (rnd32 x * - rnd32 c) with (- (rnd32 x * rnd32 c)) by ring.
      rewrite !rnd32_opp. ring. }
    pose proof (above_1_small (- y) x d (- c)) as H. unfold computed_part in *. rewrite Swap in H.
    replace (x * c - y * d) with (- y * d - x * - c) by ring.
    apply H; [| | |auto].
    + unfold unit_factor in *. lra.
    + unfold unit_factor in *. lra.
    + rewrite rnd32_opp. replace (rnd32 x * - rnd32 c) with (- (rnd32 x * rnd32 c)) by ring.
      now rewrite Rabs_Ropp.
  - destruct (four_parts x y c d Fx Fc) as [E _].
    pose proof (difference_error x y c d Fx Fc) as P. unfold computed_part.
    destruct (multiple_of_sum (-2) (rnd32 x * rnd32 c) (- (rnd32 y * rnd32 d))) as [m M];
      [lia|simpl; lra|rewrite Rabs_Ropp; simpl; lra|].
    rewrite rnd32_opp in M.
    set (s := rnd32 (rnd32 x * rnd32 c) - rnd32 (rnd32 y * rnd32 d)) in *.
    change (s = IZR m * bpow radix2 (-2 - 23)) in M. simpl bpow in M.
    apply Rabs_le_inv in P. apply Rabs_le_inv in E.
    destruct (rounded_above_1 s) as [One [Tie Next]]; [lra|].
    apply Rabs_le. destruct (Rle_lt_dec s (1 + / 2 ^ 24)) as [L|G]; [rewrite (Tie L); lra|].
    assert (U : 33554434 < IZR m) by lra. apply lt_IZR in U.
    assert (U' : (33554435 <= m)%Z) by lia. apply IZR_le in U'. lra.
Qed.

(** The promise of [sinusoidal_table] in float32: rounding the factors, multiplying and adding
    moves an entry by at most 1.75e-7, if the products are rounded before they are subtracted, *)
Theorem sinusoidal_table_float32_error : forall x y c d, unit_factor x y -> unit_factor c d ->
  Rabs (computed_part x y c d - (x * c - y * d)) <= 1.75e-7.
Proof.
  intros x y c d Fx Fc. pose proof (difference_error x y c d Fx Fc) as E.
  set (s := rnd32 (rnd32 x * rnd32 c) - rnd32 (rnd32 y * rnd32 d)) in *.
  destruct (Rle_lt_dec s 1) as [Le|Gt]; [|now apply above_1].
  destruct (Rle_lt_dec (- 1) s) as [Ge|Lt].
  - (* a last rounding of a number no larger than 1 *)
    unfold computed_part. fold s.
    assert (L : Rabs (rnd32 s - s) <= bpow radix2 (0 - 25))
      by (apply rnd32_error; [lia|simpl; now apply Rabs_le]).
    simpl in L.
    replace (rnd32 s - (x * c - y * d)) with ((rnd32 s - s) + (s - (x * c - y * d))) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). lra.
  - (* below -1 all signs change *)
    assert (Opp : forall r t, rnd32 (rnd32 (- r) * t) = - rnd32 (rnd32 r * t)).
    { intros r t. rewrite <- (rnd32_opp (rnd32 r * t)), (rnd32_opp r). f_equal. ring. }
    pose proof (above_1 (- x) (- y) c d) as H. unfold computed_part in *. rewrite !Opp in H.
    replace (- rnd32 (rnd32 x * rnd32 c) - - rnd32 (rnd32 y * rnd32 d)) with (- s) in H
      by (unfold s; ring). rewrite rnd32_opp in H. fold s.
    replace (rnd32 s - (x * c - y * d)) with (- (- rnd32 s - (- x * c - - y * d))) by ring.
    rewrite Rabs_Ropp. apply H; [|auto|lra]. unfold unit_factor in *. lra.
Qed.

(** and also if the processor subtracts the rounded second product from the exact first one, as numpy
    does where the processor can. *)
Definition fused_part (x y c d : R) : R := rnd32 (rnd32 x * rnd32 c - rnd32 (rnd32 y * rnd32 d)).

Theorem sinusoidal_table_float32_error_fused : forall x y c d, unit_factor x y -> unit_factor c d ->
  Rabs (fused_part x y c d - (x * c - y * d)) <= 1.75e-7.
Proof.
  intros x y c d Fx Fc.
  destruct (four_parts x y c d Fx Fc) as [E F].
  destruct (parts x y Fx) as [X [Y _]]. destruct (parts c d Fc) as [C [D _]].
  pose proof (product_of_rounded x c X C) as P. pose proof (product_of_rounded y d Y D) as Q.
  assert (B : Rabs (rnd32 y * rnd32 d) <= bpow radix2 0).
  { simpl. rewrite Rabs_mult. pose proof (rounded_part y Y). pose proof (rounded_part d D).
    pose proof (Rabs_pos (rnd32 y)). pose proof (Rabs_pos (rnd32 d)). nra. }
  apply rnd32_error in B; [|lia]. simpl bpow in B. unfold fused_part.
  set (a := rnd32 x * rnd32 c) in *. set (b := rnd32 y * rnd32 d) in *.
  apply Rabs_le_inv in P, Q, B, E.
  assert (S : Rabs (a - rnd32 b) <= bpow radix2 1) by (simpl; apply Rabs_le; lra).
  apply rnd32_error in S; [|lia]. simpl bpow in S. apply Rabs_le_inv in S. apply Rabs_le. lra.
Qed.
