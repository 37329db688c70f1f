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

(** Any two pairs have an angle from the first to the second: the last theorem speaks of all. *)
Theorem every_two_pairs_have_an_angle : forall u v, exists phi, angle phi u v.
Proof.
  intros u v. destruct (polar u) as [a A], (polar v) as [b B].
  exists (b - a). split.
  - rewrite A, B at 1. rewrite cos_minus. unfold dot2 at 1; simpl. ring.
  - rewrite A, B at 1. rewrite sin_minus. unfold cross2; simpl. ring.
Qed.
