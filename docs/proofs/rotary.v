(** * Rotary positions: Theorems 4.14 to 4.16 *)

From Coq Require Import Reals List Permutation Lra Lia ZArith.
From Book Require Import definitions.
Import ListNotations.
Open Scope R_scope.

(** ** The relative score *)

(** Two turned pairs score as if the second alone were turned, by the difference. *)
Lemma turn_dot : forall a b u v, dot2 (turn a u) (turn b v) = dot2 u (turn (b - a) v).
Proof.
  intros a b u v. unfold dot2, turn; simpl.
  rewrite cos_minus, sin_minus. ring.
Qed.

(** Turning does not change a length. *)
Lemma turn_length : forall a u, dot2 (turn a u) (turn a u) = dot2 u u.
Proof.
  intros. rewrite turn_dot. replace (a - a) with 0 by ring.
  unfold turn, dot2; simpl. rewrite cos_0, sin_0. ring.
Qed.

(** The score of [u] and a turned [v], by cosine and sine. *)
Lemma dot_turn : forall a u v, dot2 u (turn a v) = dot2 u v * cos a - cross2 u v * sin a.
Proof. intros. unfold dot2, cross2, turn; simpl. ring. Qed.

(** Theorem 4.15 (a): no vector changes its length. *)
Theorem rope_keeps_length : forall n w m q, norm n (rope w m q) = norm n q.
Proof.
  intros. unfold norm, dot. f_equal.
  apply sum_below. intros i _. apply turn_length.
Qed.

(** Theorem 4.15 (b), first half: the score is that of the query with the key rotated by key minus
    query. *)
Theorem rope_relative : forall n w q k m n',
  dot n (rope w m q) (rope w n' k) = dot n q (rope w (n' - m) k).
Proof.
  intros. unfold dot, rope. apply sum_below. intros i _.
  (* pair by pair, the difference of the two angles is left *)
  rewrite turn_dot. do 2 f_equal. ring.
Qed.

(** Theorem 4.15 (b), second half: the score is a sum of cosines, [phi i] being the angle from the
    query's pair to the key's. *)
Theorem rope_score_is_a_sum_of_cosines : forall n w q k r phi,
  (forall i, (i < n)%nat -> angle (phi i) (q i) (k i)) ->
  dot n q (rope w r k) =
  sum (fun i => length2 (q i) * length2 (k i) * cos (r * w i + phi i)) (below n).
Proof.
  intros n w q k r phi A. apply sum_below. intros i I.
  destruct (A i I) as [C S]. unfold rope.
  rewrite dot_turn, C, S, cos_plus. ring.
Qed.

(** Every pair has a length and an angle of its own, *)
Lemma polar : forall u, exists a, u = (length2 u * cos a, length2 u * sin a).
Proof.
  intros [x y]. unfold length2, dot2; simpl.
  set (r := sqrt (x * x + y * y)).
  assert (P : 0 <= x * x + y * y)
    by (apply Rplus_le_le_0_compat; apply Rle_0_sqr).
  assert (Q : r * r = x * x + y * y) by now apply sqrt_sqrt.
  assert (N : 0 <= r) by apply sqrt_pos.
  destruct (Req_dec r 0) as [Z|NZ].
  - (* the pair 0: any angle will do *)
    exists 0. rewrite Z in *. f_equal; nra.
  - assert (B : -1 <= x / r <= 1).
    { assert (L : - r <= x <= r) by (split; nra).
      assert (0 < r) by lra.
      split; apply Rmult_le_reg_r with r; auto; unfold Rdiv;
        rewrite Rmult_assoc, Rinv_l, Rmult_1_r; lra. }
    assert (C : r * cos (acos (x / r)) = x) by (rewrite cos_acos by auto; field; auto).
    assert (S : (r * sin (acos (x / r))) * (r * sin (acos (x / r))) = y * y).
    { pose proof (sin2_cos2 (acos (x / r))) as E. unfold Rsqr in E.
      replace (y * y) with (r * r - x * x) by lra. rewrite <- C at 3 4.
      transitivity (r * r * (sin (acos (x / r)) * sin (acos (x / r)))); [ring|].
      replace (sin (acos (x / r)) * sin (acos (x / r)))
        with (1 - cos (acos (x / r)) * cos (acos (x / r))) by lra. ring. }
    destruct (Rmult_integral (r * sin (acos (x / r)) - y) (r * sin (acos (x / r)) + y)) as [H|H].
    + nra.
    + exists (acos (x / r)). rewrite C. f_equal; lra.
    + exists (- acos (x / r)). rewrite cos_neg, sin_neg, C. f_equal; lra.
Qed.

(** so any two have an angle from the first to the second: the last theorem speaks of all. *)
Theorem every_two_pairs_have_an_angle : forall u v, exists phi, angle phi u v.
Proof.
  intros u v. destruct (polar u) as [a A], (polar v) as [b B].
  exists (b - a). split.
  - rewrite A, B at 1. rewrite cos_minus. unfold dot2 at 1; simpl. ring.
  - rewrite A, B at 1. rewrite sin_minus. unfold cross2; simpl. ring.
Qed.
