(** * Rotary positions: Theorems 4.14 to 4.16 *)

From Coq Require Import Reals List Permutation Lra Lia ZArith.
From Coquelicot Require Import Complex.
From Book Require Import definitions sinusoidal.
Import ListNotations.
Open Scope R_scope.

(** ** Pairing is a matter of order *)

(** Here a vector of width d = 2n is a function of the dimension. [place j] is the dimension to
    which the permutation moves dimension [j], and [from] is the way back. *)
Definition permutes (d : nat) (place from : nat -> nat) : Prop :=
  (forall j, (j < d)%nat -> (place j < d)%nat /\ from (place j) = j) /\
  (forall a, (a < d)%nat -> (from a < d)%nat /\ place (from a) = a).

(** The permutation applied to a vector; with [place] in the place of [from], its transpose. *)
Definition permute (from : nat -> nat) (x : nat -> R) : nat -> R := fun a => x (from a).

(** [F] rotates the pair of dimensions [place (2 i)] and [place (2 i + 1)] by the angle [m * w i],
    for each of the n pairs. *)
Definition rotates (n : nat) (place : nat -> nat) (w : nat -> R) (m : R)
  (F : (nat -> R) -> nat -> R) : Prop :=
  forall x i, (i < n)%nat ->
  (F x (place (2 * i)), F x (place (2 * i + 1)))%nat =
  turn (m * w i) (x (place (2 * i)%nat), x (place (2 * i + 1)%nat)).

(** In the paper's layout the pairs are neighbours. *)
Definition neighbours (j : nat) : nat := j.

Definition product (d : nat) (x y : nat -> R) : R := sum (fun a => x a * y a) (below d).

(** Every dimension is the first or the second of a pair. *)
Lemma first_or_second : forall n a, (a < 2 * n)%nat ->
  exists i, (i < n)%nat /\ (a = 2 * i \/ a = 2 * i + 1)%nat.
Proof.
  intros n a A. destruct (Nat.Even_or_Odd a) as [[i E]|[i E]]; exists i; split; auto; lia.
Qed.

(** Theorem 4.14 (pairing is a matter of order): [R'] is the permutation after [R] after the
    permutation's transpose. *)
Theorem pairing_is_a_matter_of_order : forall n w m place from F F',
  permutes (2 * n) place from ->
  rotates n neighbours w m F -> rotates n place w m F' ->
  forall x a, (a < 2 * n)%nat -> F' x a = permute from (F (permute place x)) a.
Proof.
  intros n w m place from F F' [To Back] N N' x a A. unfold permute at 1.
  destruct (Back a A) as [J P]. destruct (first_or_second n (from a) J) as [i [I D]].
  pose proof (N (permute place x) i I) as E. pose proof (N' x i I) as E'.
  unfold neighbours, permute in E. unfold permute.
  rewrite <- E' in E. injection E as E1 E2.
  transitivity (F' x (place (from a))); [now rewrite P|].
  destruct D as [D|D]; rewrite D; auto.
Qed.

(** A sum over all dimensions does not change if they are permuted. *)
Lemma sum_permuted : forall d place from f, permutes d place from ->
  sum (fun a => f (from a)) (below d) = sum f (below d).
Proof.
  intros d place from f [To Back].
  transitivity (sum f (map from (below d))).
  - generalize (below d). induction l as [|a l IH]; simpl; congruence.
  - apply sum_perm. apply Permutation_sym, NoDup_Permutation_bis.
    + apply seq_NoDup.
    + now rewrite size_map.
    + (* every dimension is come from *)
      intros b B. apply in_seq in B. destruct (To b) as [L <-]; [lia|].
      apply in_map, in_seq. lia.
Qed.

(** Theorem 4.14, its second half: the scores are the same in either layout. *)
Theorem scores_are_the_same_in_either_layout :
  forall n w p p' place from Fp Fp' Gp Gp', permutes (2 * n) place from ->
  rotates n neighbours w p Fp -> rotates n neighbours w p' Fp' ->
  rotates n place w p Gp -> rotates n place w p' Gp' ->
  forall q k, product (2 * n) (Gp (permute from q)) (Gp' (permute from k)) =
              product (2 * n) (Fp q) (Fp' k).
Proof.
  intros n w p p' place from Fp Fp' Gp Gp' P F F' G G' q k.
  (* moving there and back leaves every dimension where it was *)
  assert (Moved : forall m A B, rotates n neighbours w m A -> rotates n place w m B ->
    forall x a, (a < 2 * n)%nat -> B (permute from x) a = A x (from a)).
  { intros m A B NA NB x a L.
    rewrite (pairing_is_a_matter_of_order n w m place from A B P NA NB) by auto.
    unfold permute at 1. destruct P as [To Back]. destruct (Back a L) as [J _].
    destruct (first_or_second n (from a) J) as [i [I D]].
    pose proof (NA (permute place (permute from x)) i I) as E.
    pose proof (NA x i I) as E'. unfold neighbours, permute in *.
    destruct (To (2 * i)%nat) as [_ T]; [lia|]. rewrite T in E.
    destruct (To (2 * i + 1)%nat) as [_ T']; [lia|]. rewrite T' in E.
    rewrite <- E' in E. injection E as E1 E2. destruct D as [D|D]; rewrite D; auto. }
  unfold product.
  rewrite <- (sum_permuted (2 * n) place from (fun a => Fp q a * Fp' k a) P).
  apply sum_below. intros a A.
  rewrite (Moved p Fp Gp F G), (Moved p' Fp' Gp' F' G') by auto. reflexivity.
Qed.

(** Every permutation has such a rotation, so the two theorems are not empty. *)
Theorem every_permutation_has_a_rotation : forall n w m place from, permutes (2 * n) place from ->
  exists F, rotates n place w m F.
Proof.
  intros n w m place from [To _].
  (* rotate the pair to which a dimension belongs, and take its first or its second number *)
  exists (fun x a => let i := (from a / 2)%nat in
    let u := turn (m * w i) (x (place (2 * i)%nat), x (place (2 * i + 1)%nat)) in
    if Nat.even (from a) then fst u else snd u).
  intros x i I. cbv zeta.
  destruct (To (2 * i)%nat) as [_ ->]; [lia|]. destruct (To (2 * i + 1)%nat) as [_ ->]; [lia|].
  rewrite half_of_even, half_of_odd, Nat.even_add, Nat.even_mul. cbn [Nat.even orb Bool.eqb].
  reflexivity.
Qed.

(** The other layout in use, that of LLaMA's code: pair [i] is the dimensions [i] and [n + i]. *)
Definition halves (n j : nat) : nat := if Nat.even j then (j / 2)%nat else (n + j / 2)%nat.
Definition from_halves (n a : nat) : nat :=
  if Nat.ltb a n then (2 * a)%nat else (2 * (a - n) + 1)%nat.

Theorem halves_permute_the_dimensions : forall n, permutes (2 * n) (halves n) (from_halves n).
Proof.
  intros n. split.
  - intros j J. unfold halves, from_halves. destruct (Nat.Even_or_Odd j) as [[i E]|[i E]]; subst j.
    + rewrite Nat.even_mul. simpl orb. cbv iota. rewrite half_of_even.
      replace (i <? n)%nat with true by (symmetry; apply Nat.ltb_lt; lia). lia.
    + rewrite Nat.even_add, Nat.even_mul. simpl Bool.eqb.
      rewrite half_of_odd.
      replace (n + i <? n)%nat with false by (symmetry; apply Nat.ltb_ge; lia). lia.
  - intros a A. unfold halves, from_halves. destruct (Nat.ltb_spec a n) as [L|L].
    + rewrite Nat.even_mul. simpl orb. cbv iota. rewrite half_of_even. lia.
    + rewrite Nat.even_add, Nat.even_mul. simpl Bool.eqb.
      rewrite half_of_odd. lia.
Qed.

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

(** The relative score if only the first [r] pairs are rotated, as in GPT-NeoX, *)
Definition partial_rope (r : nat) (w : nat -> R) (m : R) (x : vector) : vector :=
  fun i => if Nat.ltb i r then turn (m * w i) (x i) else x i.

Theorem partial_rope_relative : forall n r w q k m n',
  dot n (partial_rope r w m q) (partial_rope r w n' k) = dot n q (partial_rope r w (n' - m) k).
Proof.
  intros. unfold dot, partial_rope. apply sum_below. intros i _.
  destruct (Nat.ltb i r); auto. rewrite turn_dot. do 2 f_equal. ring.
Qed.

(** A rotated vector in any layout, pair by pair. *)
Lemma product_of_pairs : forall n x y,
  product (2 * n) x y =
  dot n (fun i => (x (2 * i), x (2 * i + 1)))%nat (fun i => (y (2 * i), y (2 * i + 1)))%nat.
Proof.
  unfold product, dot. induction n as [|n IH]; intros; auto.
  replace (2 * S n)%nat with (S (S (2 * n))) by lia. rewrite !sum_S, IH.
  unfold dot2. cbn [fst snd]. replace (2 * n + 1)%nat with (S (2 * n)) by lia. ring.
Qed.

(** and in any layout. *)
Theorem relative_in_any_layout : forall n w m n' place from Fm Fn Fr,
  permutes (2 * n) place from ->
  rotates n place w m Fm -> rotates n place w n' Fn -> rotates n place w (n' - m) Fr ->
  forall q k, product (2 * n) (Fm q) (Fn k) = product (2 * n) q (Fr k).
Proof.
  intros n w m n' place from Fm Fn Fr P M N D q k.
  assert (P' : permutes (2 * n) from place) by (destruct P; split; auto).
  (* count the dimensions pair by pair *)
  unfold product.
  rewrite <- (sum_permuted _ _ _ (fun a => Fm q a * Fn k a) P').
  rewrite <- (sum_permuted _ _ _ (fun a => q a * Fr k a) P').
  change (product (2 * n) (fun j => Fm q (place j)) (fun j => Fn k (place j)) =
          product (2 * n) (fun j => q (place j)) (fun j => Fr k (place j))).
  rewrite !product_of_pairs. unfold dot. apply sum_below. intros i I.
  rewrite (M q i I), (N k i I), (D k i I), turn_dot. do 2 f_equal. ring.
Qed.

(** *** Scores that are the same on both sides *)

(** Both pairs are multiples of one pair. *)
Definition on_one_line (u v : R * R) : Prop :=
  exists x a b, u = (a * fst x, a * snd x) /\ v = (b * fst x, b * snd x).

Lemma cross_0_on_one_line : forall u v, cross2 u v = 0 -> on_one_line u v.
Proof.
  intros [a b] [c d]. unfold cross2, on_one_line; simpl. intros E.
  destruct (Req_dec (a * a + b * b) 0) as [Z|N].
  - (* the first is 0 *)
    assert (a = 0) by nra. assert (b = 0) by nra. subst.
    exists (c, d), 0, 1. simpl. split; f_equal; ring.
  - exists (a, b), 1, ((a * c + b * d) / (a * a + b * b)). simpl. split; f_equal; try ring.
    + transitivity ((a * a * c + b * (a * d)) / (a * a + b * b)); [|field; auto].
      replace (a * d) with (b * c) by lra. field; auto.
    + transitivity ((b * b * d + a * (b * c)) / (a * a + b * b)); [|field; auto].
      replace (b * c) with (a * d) by lra. field; auto.
Qed.

(** Theorem 4.15 (c): the score is the same for [r] and [-r], at every integer [r], only if the
    pairs of query and key lie on one line through 0. *)
Theorem equal_on_both_sides_only_on_one_line : forall n w q k, different_frequencies n w ->
  (forall r : Z, dot n q (rope w (IZR r) k) = dot n q (rope w (- IZR r) k)) ->
  forall i, (i < n)%nat -> on_one_line (q i) (k i).
Proof.
  intros n w q k D Same i I. apply cross_0_on_one_line.
  (* the sines are independent *)
  assert (Z : (cross2 (q i) (k i), 0) = (0, 0)); [|now injection Z].
  revert i I. apply (rows_span n w (fun i => (cross2 (q i) (k i), 0)) D). intros p.
  specialize (Same (Z.of_nat p)). rewrite <- INR_IZR_INZ in Same.
  apply Rminus_diag_eq in Same. unfold dot in *. rewrite <- sum_minus in Same.
  apply Rmult_eq_reg_l with (-2); [|lra]. rewrite Rmult_0_r.
  etransitivity; [|exact Same]. rewrite <- sum_scal.
  apply sum_below. intros i I. unfold rope. rewrite !dot_turn.
  replace (- INR p * w i) with (- (INR p * w i)) by ring. rewrite cos_neg, sin_neg.
  unfold dot2 at 1, PE; simpl. ring.
Qed.

(** ** One rotation, three ways to write it *)

(** Here [x] is a function of the dimension again; its pair [i] are the dimensions 2i and 2i + 1. *)
Definition pairs (x : nat -> R) : vector := fun i => (x (2 * i), x (2 * i + 1))%nat.

(** The block of the matrix R(m). *)
Definition rope_block (w : nat -> R) (m : R) (i : nat) : block :=
  ((cos (m * w i), - sin (m * w i)), (sin (m * w i), cos (m * w i))).

Definition rope_matrix (w : nat -> R) (m : R) : matrix := diagonal (rope_block w m).

(** The neighbour of each entry, with a minus before those from the second place of a pair. *)
Definition swapped (x : nat -> R) (a : nat) : R :=
  if Nat.even a then - x (a + 1)%nat else x (a - 1)%nat.

Definition elementwise (w : nat -> R) (m : R) (x : nat -> R) (a : nat) : R :=
  x a * cos (m * w (a / 2)%nat) + swapped x a * sin (m * w (a / 2)%nat).

(** e^(i m w_i), and the complex product of a pair with it. *)
Definition complex_form (w : nat -> R) (m : R) (x : nat -> R) : nat -> C :=
  fun i => Cmult (pairs x i : C) (cos (m * w i), sin (m * w i)).

(** Theorem 4.16 (three forms): matrix product, complex product and elementwise form are the same
    vector, the rotated one. *)
Theorem three_forms_of_one_rotation : forall n w m x,
  same n (apply n (rope_matrix w m) (pairs x)) (rope w m (pairs x)) /\
  same n (complex_form w m x) (rope w m (pairs x)) /\
  same n (pairs (elementwise w m x)) (rope w m (pairs x)).
Proof.
  intros n w m x. split; [|split]; intros i I.
  - unfold rope_matrix. rewrite apply_diagonal by auto.
    unfold apply_block, rope_block, dot2, rope, turn; simpl. f_equal; ring.
  - unfold complex_form, Cmult, rope, turn, pairs. cbn [fst snd].
    apply injective_projections; cbn [fst snd]; ring.
  - unfold rope, turn, pairs, elementwise, swapped. cbn [fst snd].
    rewrite Nat.even_add, Nat.even_mul. cbn [Nat.even orb Bool.eqb].
    rewrite half_of_even.
    rewrite half_of_odd.
    replace (2 * i + 1 - 1)%nat with (2 * i)%nat by lia. f_equal; ring.
Qed.
