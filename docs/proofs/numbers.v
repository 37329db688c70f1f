(** * Inequalities between numbers

    Where the book says that a formula never goes below or above a number, on a whole interval, the
    tactic [interval] proves it: it computes with intervals that hold every value.
    With [i_prec] it does so in whole numbers, without trust in the machine's floats. *)

From Coq Require Import Reals List Lra Lia ZArith.
From Interval Require Import Tactic.
From Book Require Import definitions sinusoidal biases.
Import ListNotations.
Open Scope R_scope.

(** ** The printed row of similarities *)

(** Every frequency is between 0 and 1 with a base above 1. There cos 7w + 5 cos w is at least 3.45,
    *)
Theorem seven_and_five : forall w, 0 <= w <= 1 -> 3.45 <= cos (7 * w) + 5 * cos w.
Proof. intros w W. interval with (i_bisect w, i_taylor w, i_prec 40). Qed.

(** and so is the similarity at distance 7 plus five times that at distance 1, at every width. *)
Theorem similarities_at_7_and_1 : forall b n, 1 < b -> (0 < n)%nat ->
  3.45 <= similarity n (frequency b n) 7 + 5 * similarity n (frequency b n) 1.
Proof.
  intros b n B N. assert (P : 0 < INR n) by now apply lt_0_INR.
  destruct (frequencies_are_different b n B) as [_ Range].
  unfold similarity.
  set (f := fun i => cos (7 * frequency b n i)). set (g := fun i => cos (1 * frequency b n i)).
  (* a mean is no less than the least *)
  assert (S : INR n * 3.45 <= sum f (below n) + 5 * sum g (below n)).
  { rewrite <- sum_below_const, <- sum_scal, <- sum_plus. apply sum_le. intros i I.
    apply in_seq in I. unfold f, g. rewrite Rmult_1_l. apply seven_and_five.
    destruct (Range i); [lia|lra]. }
  replace (2 / (2 * INR n) * sum f (below n) + 5 * (2 / (2 * INR n) * sum g (below n)))
    with (/ INR n * (sum f (below n) + 5 * sum g (below n))) by (field; lra).
  apply Rmult_le_reg_l with (INR n); auto. rewrite <- Rmult_assoc, Rinv_r by lra. lra.
Qed.

(** With base 10000 no similarity up to distance 7 is negative at any even width from 4 on. *)
Theorem similarity_up_to_7_is_positive : forall n k, (2 <= n)%nat -> (k <= 7)%nat ->
  0 < similarity n (frequency 10000 n) (INR k).
Proof.
  intros n k N K. assert (P : 0 < INR n) by (apply lt_0_INR; lia).
  unfold similarity. apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|].
  assert (K7 : 0 <= INR k <= 7).
  { split; [apply pos_INR|]. apply le_INR in K. simpl in K. lra. }
  destruct (frequencies_are_different 10000 n) as [_ Range]; [lra|].
  (* from a quarter of the pairs on, a frequency is at most 1/10, and cos(0.7) is above 0.76 *)
  assert (Slow : forall i, (i < n)%nat -> (n <= 4 * i)%nat ->
    0.76 <= cos (INR k * frequency 10000 n i)).
  { intros i I Q. assert (F : frequency 10000 n i <= 1 / 10).
    { rewrite frequency_exp by lia.
      assert (H : 1 / 4 <= INR i / INR n).
      { apply Rmult_le_reg_r with (INR n); auto. unfold Rdiv.
        rewrite (Rmult_assoc (INR i)), Rinv_l, Rmult_1_r by lra.
        apply le_INR in Q. rewrite mult_INR in Q. simpl in Q. lra. }
      assert (L : 0 < ln 10) by (rewrite <- ln_1; apply ln_increasing; lra).
      replace 10000 with (10 * 10 * (10 * 10)) by lra. rewrite !ln_mult by lra.
      apply Rle_trans with (exp (- ln 10)).
      - destruct (Rle_lt_or_eq_dec (- (INR i / INR n * (ln 10 + ln 10 + (ln 10 + ln 10))))
          (- ln 10)) as [G|G]; [nra| |rewrite G; lra].
        now apply Rlt_le, exp_increasing.
      - rewrite exp_Ropp, exp_ln by lra. lra. }
    destruct (Range i I) as [F0 _].
    assert (A : 0 <= INR k * frequency 10000 n i <= 0.7) by (split; nra).
    set (a := INR k * frequency 10000 n i) in *. clearbody a. interval with (i_prec 40). }
  destruct (Nat.eq_dec n 2) as [->|N3].
  - (* width 4: the frequencies are 1 and 1/100 *)
    unfold below. simpl. rewrite frequency_0, Rmult_1_r by lia.
    assert (F : frequency 10000 2 1 = / 100).
    { rewrite frequency_exp by lia. replace 10000 with (100 * 100) by lra.
      rewrite ln_mult by lra. replace (- (INR 1 / INR 2 * (ln 100 + ln 100))) with (- ln 100)
        by (simpl; field). rewrite exp_Ropp, exp_ln; lra. }
    rewrite F. do 8 (destruct k as [|k]; [simpl; interval with (i_prec 40)|]). lia.
  - (* wider: at most a quarter of the pairs, rounded up, is below that, and above -1 *)
    assert (Quarter : exists q, (4 * q <= n + 3)%nat /\ (n <= 4 * q)%nat).
    { clear. induction n as [|n [q [A B]]]; [exists 0%nat; lia|].
      destruct (Nat.le_gt_cases (S n) (4 * q)); [exists q|exists (S q)]; lia. }
    destruct Quarter as [q [Q Q']].
    assert (Split : below n = below q ++ seq q (n - q)).
    { unfold below. replace n with (q + (n - q))%nat at 1 by lia. now rewrite seq_app. }
    rewrite Split, sum_app.
    assert (First : INR q * -1 <= sum (fun i => cos (INR k * frequency 10000 n i)) (below q)).
    { rewrite <- sum_below_const. apply sum_le. intros. apply COS_bound. }
    assert (Rest : INR (n - q) * 0.76 <=
                   sum (fun i => cos (INR k * frequency 10000 n i)) (seq q (n - q))).
    { replace (INR (n - q) * 0.76) with (sum (fun _ : nat => 0.76) (seq q (n - q)))
        by (rewrite sum_const, size_seq; ring).
      apply sum_le. intros i I. apply in_seq in I. apply Slow; lia. }
    rewrite minus_INR in Rest by lia.
    destruct (Nat.le_gt_cases n 4) as [Small|Large].
    + (* widths 6 and 8: one pair *)
      assert (q1 : q = 1%nat) by lia. rewrite q1 in *. simpl INR in *.
      assert (H3 : (3 <= n)%nat) by lia. apply le_INR in H3. simpl in H3. lra.
    + apply le_INR in Q. rewrite mult_INR, plus_INR in Q. simpl in Q.
      apply le_INR in Large. simpl in Large. lra.
Qed.

(** ** Near misses and windows of chapter 4 *)

(** 710 positions are 113 turns and 0.00006 of a radian. *)
Theorem lag_710_is_113_turns : Rabs (710 - 113 * (2 * PI) - 0.00006) <= 0.000005.
Proof. interval with (i_prec 60). Qed.

(** Exercise 4.2: the similarities at a lag and at twice that lag add up to at least -9/8. *)
Theorem similarity_at_a_lag_and_twice_that : forall n w k, (0 < n)%nat ->
  - (9 / 8) <= similarity n w k + similarity n w (2 * k).
Proof.
  intros n w k N. assert (P : 0 < INR n) by now apply lt_0_INR.
  unfold similarity.
  set (f := fun i => cos (k * w i)). set (g := fun i => cos (2 * k * w i)).
  assert (S : INR n * - (9 / 8) <= sum f (below n) + sum g (below n)).
  { rewrite <- sum_below_const, <- sum_plus. apply sum_le. intros i _. unfold f, g.
    replace (2 * k * w i) with (2 * (k * w i)) by ring. rewrite cos_2a_cos.
    pose proof (Rle_0_sqr (cos (k * w i) + 1 / 4)) as H. unfold Rsqr in H. lra. }
  replace (2 / (2 * INR n) * sum f (below n) + 2 / (2 * INR n) * sum g (below n))
    with (/ INR n * (sum f (below n) + sum g (below n))) by (field; lra).
  apply Rmult_le_reg_l with (INR n); auto. rewrite <- Rmult_assoc, Rinv_r by lra. lra.
Qed.

(** Exercise 4.3: with slope 1/4 and scores in a range of width 2, the keys from distance 27
    on, to any largest distance [T], have less than a hundredth of the weight. *)
Theorem window_of_a_quarter : forall a T,
  (forall t t', (t <= T)%nat -> (t' <= T)%nat -> a t - a t' <= 2) ->
  sum (weight (alibi 0.25 a) (below (T + 1)) 0%nat) (beyond 26 T) < 0.01.
Proof.
  intros a T Range.
  apply Rle_lt_trans with (1 := almost_nothing_beyond_the_window 0.25 a 2 26 T Range).
  simpl INR. interval with (i_prec 40).
Qed.
