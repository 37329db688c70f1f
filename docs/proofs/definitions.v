(** * What the theorems of chapter 4 speak of

    Everything is written down once, here, with the letters of the chapter. A vector of an even
    width d is a function of the pair's number i, with n = d/2 pairs: so [x i] is the pair
    (x_2i, x_2i+1), and the theorems hold at every even width because n is any number. *)

From Coq Require Import Reals List Permutation Lra Lia ZArith.
Import ListNotations.
Open Scope R_scope.

(** ** Sums *)

(** The sum of [f t] over all [t] in a list. *)
Definition sum {T : Type} (f : T -> R) (l : list T) : R :=
  fold_right (fun t rest => f t + rest) 0 l.

(** The numbers 0, 1, ..., n - 1: of pairs, of dimensions or of places. *)
Definition below (n : nat) : list nat := seq 0 n.

(** ** One pair of dimensions *)

Definition dot2 (u v : R * R) : R := fst u * fst v + snd u * snd v.

(** The sine's partner of [dot2]: positive if the turn from [u] to [v] is anticlockwise. *)
Definition cross2 (u v : R * R) : R := fst u * snd v - snd u * fst v.

Definition length2 (u : R * R) : R := sqrt (dot2 u u).

(** A pair rotated by the angle [a], anticlockwise. *)
Definition turn (a : R) (u : R * R) : R * R :=
  (fst u * cos a - snd u * sin a, fst u * sin a + snd u * cos a).

(** [phi] is the angle from [u] to [v]. If one of them is 0, every angle is. *)
Definition angle (phi : R) (u v : R * R) : Prop :=
  dot2 u v = length2 u * length2 v * cos phi /\ cross2 u v = length2 u * length2 v * sin phi.

(** ** Vectors of n pairs *)

Definition vector := nat -> R * R.

Definition dot (n : nat) (u v : vector) : R := sum (fun i => dot2 (u i) (v i)) (below n).

Definition norm (n : nat) (u : vector) : R := sqrt (dot n u u).

Definition minus (u v : vector) : vector := fun i => (fst (u i) - fst (v i), snd (u i) - snd (v i)).

Definition distance (n : nat) (u v : vector) : R := norm n (minus u v).

Definition cosine_similarity (n : nat) (u v : vector) : R := dot n u v / (norm n u * norm n v).

(** Two vectors are the same if all their [n] pairs are. *)
Definition same (n : nat) (u v : vector) : Prop := forall i, (i < n)%nat -> u i = v i.

(** ** Matrices, in blocks of two rows and two columns *)

(** A block is its upper and its lower row. *)
Definition block : Type := (R * R) * (R * R).

Definition matrix := nat -> nat -> block.

Definition apply_block (a : block) (u : R * R) : R * R := (dot2 (fst a) u, dot2 (snd a) u).

(** The product of a matrix and a vector. *)
Definition apply (n : nat) (A : matrix) (x : vector) : vector :=
  fun i => (sum (fun j => fst (apply_block (A i j) (x j))) (below n),
            sum (fun j => snd (apply_block (A i j) (x j))) (below n)).

(** The matrix with the blocks [a 0], [a 1], ... on its diagonal and 0 elsewhere. *)
Definition diagonal (a : nat -> block) : matrix :=
  fun i j => if Nat.eqb i j then a i else ((0, 0), (0, 0)).

(** ** Frequencies *)

(** The frequency of pair [i] at width d = 2n with the base [b]: b^(-2i/d). *)
Definition frequency (b : R) (n : nat) (i : nat) : R := Rpower b (- (2 * INR i / (2 * INR n))).

(** What the proofs use of them: they are different, and lie between 0 and pi. *)
Definition different_frequencies (n : nat) (w : nat -> R) : Prop :=
  (forall i, (i < n)%nat -> 0 < w i < PI) /\
  (forall i j, (i < n)%nat -> (j < n)%nat -> w i = w j -> i = j).

(** ** The sinusoidal encoding *)

(** The row of position [p]: sine and cosine of the same angle in each pair. *)
Definition PE (w : nat -> R) (p : R) : vector := fun i => (sin (p * w i), cos (p * w i)).

(** The similarity of two rows that are [k] apart, by Theorem 4.6. *)
Definition similarity (n : nat) (w : nat -> R) (k : R) : R :=
  2 / (2 * INR n) * sum (fun i => cos (k * w i)) (below n).

(** Their distance, called delta in the chapter. *)
Definition delta (n : nat) (w : nat -> R) (k : R) : R :=
  2 * sqrt (sum (fun i => (sin (k * w i / 2)) ^ 2) (below n)).

(** The rotation that carries a pair of the row [k] positions on. *)
Definition shift_block (w : nat -> R) (k : R) (i : nat) : block :=
  ((cos (k * w i), sin (k * w i)), (- sin (k * w i), cos (k * w i))).

Definition shift_matrix (w : nat -> R) (k : R) : matrix := diagonal (shift_block w k).

(** ** Rotary positions *)

(** R(m) x: pair [i] rotated by the angle [m * w i]. *)
Definition rope (w : nat -> R) (m : R) (x : vector) : vector := fun i => turn (m * w i) (x i).

(** ** Attention *)

(** What token [t] receives from the tokens [x], in one dimension: their values, weighted by the
    exponentials of the scores that [t] gives them. Tokens are of any kind [T], the score of two
    tokens and the value of one are any functions. Under a mask, [x] holds what [t] may see. *)
Definition attend {T : Type} (score : T -> T -> R) (value : T -> R) (x : list T) (t : T) : R :=
  sum (fun u => exp (score t u) * value u) x / sum (fun u => exp (score t u)) x.

(** The share of [u] in what [t] receives from [x]. *)
Definition weight {T : Type} (score : T -> T -> R) (x : list T) (t u : T) : R :=
  exp (score t u) / sum (fun u => exp (score t u)) x.

(** The first [i + 1] tokens: what place [i] sees under a causal mask. *)
Definition past {T : Type} (x : list T) (i : nat) : list T := firstn (S i) x.

(** ** Lengths of lists, and halves

    The library has these too, under names that change from one version of it to the next. *)

Lemma size_seq : forall n a, length (seq a n) = n.
Proof. induction n; simpl; auto. Qed.

Lemma size_map : forall (T U : Type) (f : T -> U) l, length (map f l) = length l.
Proof. induction l; simpl; auto. Qed.

Lemma size_app : forall (T : Type) (l l' : list T), length (l ++ l') = (length l + length l')%nat.
Proof. induction l; simpl; auto. Qed.

Lemma size_firstn : forall (T : Type) n (l : list T), length (firstn n l) = Nat.min n (length l).
Proof. induction n; destruct l; simpl; auto. Qed.

Lemma size_prod : forall (T U : Type) (l : list T) (l' : list U),
  length (list_prod l l') = (length l * length l')%nat.
Proof. induction l; simpl; intros; auto. now rewrite size_app, size_map, IHl. Qed.

(** Dimensions 2i and 2i + 1 belong to pair i. *)
Lemma half_of_even : forall i, (2 * i / 2 = i)%nat.
Proof. intros. symmetry. apply (Nat.div_unique _ 2 i 0); lia. Qed.

Lemma half_of_odd : forall i, ((2 * i + 1) / 2 = i)%nat.
Proof. intros. symmetry. apply (Nat.div_unique _ 2 i 1); lia. Qed.

(** ** Facts about sums that every section uses *)

Lemma sum_ext : forall (T : Type) (f g : T -> R) l,
  (forall t, In t l -> f t = g t) -> sum f l = sum g l.
Proof.
  induction l as [|t l IH]; simpl; intros E; auto.
  rewrite (E t), IH; auto.
Qed.

Lemma sum_below : forall f g n,
  (forall i, (i < n)%nat -> f i = g i) -> sum f (below n) = sum g (below n).
Proof. intros f g n E. apply sum_ext. intros i I. apply E. apply in_seq in I. lia. Qed.

Lemma sum_app : forall (T : Type) (f : T -> R) l l', sum f (l ++ l') = sum f l + sum f l'.
Proof. induction l as [|t l IH]; simpl; intros; [|rewrite IH]; ring. Qed.

Lemma sum_S : forall f n, sum f (below (S n)) = sum f (below n) + f n.
Proof. intros. unfold below. rewrite seq_S, sum_app. simpl. ring. Qed.

Lemma sum_plus : forall (T : Type) (f g : T -> R) l,
  sum (fun t => f t + g t) l = sum f l + sum g l.
Proof. induction l as [|t l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_minus : forall (T : Type) (f g : T -> R) l,
  sum (fun t => f t - g t) l = sum f l - sum g l.
Proof. induction l as [|t l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_scal : forall (T : Type) c (f : T -> R) l, sum (fun t => c * f t) l = c * sum f l.
Proof. induction l as [|t l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_const : forall (T : Type) c (l : list T), sum (fun _ => c) l = INR (length l) * c.
Proof.
  induction l as [|t l IH]; [simpl; ring|].
  change (length (t :: l)) with (S (length l)). rewrite S_INR. simpl. rewrite IH. ring.
Qed.

Lemma sum_below_const : forall c n, sum (fun _ => c) (below n) = INR n * c.
Proof. intros. rewrite sum_const. unfold below. now rewrite size_seq. Qed.

Lemma sum_le : forall (T : Type) (f g : T -> R) l,
  (forall t, In t l -> f t <= g t) -> sum f l <= sum g l.
Proof.
  induction l as [|t l IH]; simpl; intros L; [lra|].
  apply Rplus_le_compat; auto.
Qed.

Lemma sum_nonneg : forall (T : Type) (f : T -> R) l,
  (forall t, In t l -> 0 <= f t) -> 0 <= sum f l.
Proof.
  intros T f l L. replace 0 with (sum (fun _ : T => 0) l).
  - now apply sum_le.
  - rewrite sum_const. ring.
Qed.

Lemma sum_pos : forall (T : Type) (f : T -> R) l,
  l <> [] -> (forall t, 0 < f t) -> 0 < sum f l.
Proof.
  intros T f [|t l] N P; [easy|]. simpl.
  apply Rplus_lt_le_0_compat; auto. apply sum_nonneg. intros; now apply Rlt_le.
Qed.

Lemma sum_from : forall f a n, sum f (seq a n) = sum (fun u => f (a + u)%nat) (below n).
Proof.
  intros f a n. induction n as [|n IH]; auto.
  rewrite seq_S, sum_app, sum_S, IH. simpl. ring.
Qed.

(** A sum does not know the order of its terms. *)
Lemma sum_perm : forall (T : Type) (f : T -> R) l l', Permutation l l' -> sum f l = sum f l'.
Proof. induction 1; simpl; try lra. Qed.

(** A sum in which one term alone is not 0. *)
Lemma sum_one : forall f n i,
  (i < n)%nat -> (forall j, (j < n)%nat -> j <> i -> f j = 0) -> sum f (below n) = f i.
Proof.
  induction n as [|n IH]; intros i I Z; [lia|]. rewrite sum_S.
  destruct (Nat.eq_dec i n) as [->|D].
  - rewrite (sum_below f (fun _ => 0)), sum_below_const; [ring|]. intros j J. apply Z; lia.
  - rewrite (IH i), (Z n); [ring|lia|lia|lia|]. intros; apply Z; lia.
Qed.

Lemma dot2_0 : forall u, dot2 (0, 0) u = 0.
Proof. intros; unfold dot2; simpl; ring. Qed.

(** A matrix of blocks on the diagonal works on each pair alone. *)
Lemma apply_diagonal : forall n a x i,
  (i < n)%nat -> apply n (diagonal a) x i = apply_block (a i) (x i).
Proof.
  intros n a x i I. unfold apply, diagonal.
  rewrite 2!(sum_one _ n i I), Nat.eqb_refl; auto; intros j J D;
    (replace (i =? j)%nat with false by (symmetry; apply Nat.eqb_neq; lia));
    unfold apply_block; simpl; apply dot2_0.
Qed.

(** The square of the length of a vector is at least 0. *)
Lemma dot_nonneg : forall n x, 0 <= dot n x x.
Proof.
  intros. unfold dot. apply sum_nonneg. intros i _. unfold dot2.
  apply Rplus_le_le_0_compat; apply Rle_0_sqr.
Qed.

(** ** Every pair has a length and an angle *)

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
