(* The rules of spec/proofs.md about polynomials, remainders and cuts are sound.

   A polynomial is a list of coefficients with monomials, which are lists of numbers of atoms, as in
   checker.py. A valuation gives each atom an integer. Check it with `coqc soundness.v`. *)

Require Import ZArith Lia List Permutation.
Import ListNotations.
Open Scope Z_scope.

Definition monomial := list nat.
Definition polynomial := list (Z * monomial).

Section Values.

Variable v : nat -> Z.

Fixpoint power (m : monomial) : Z :=
  match m with [] => 1 | i :: rest => v i * power rest end.

Fixpoint value (p : polynomial) : Z :=
  match p with [] => 0 | (c, m) :: rest => c * power m + value rest end.

(* Sums of multiples, and products of terms: what `combine` and `mul` collect. *)

Definition scaled (k : Z) (p : polynomial) : polynomial := map (fun t => (k * fst t, snd t)) p.

Definition term_times (t : Z * monomial) (p : polynomial) : polynomial :=
  map (fun s => (fst t * fst s, snd t ++ snd s)) p.

Definition times (p q : polynomial) : polynomial := flat_map (fun t => term_times t q) p.

Lemma value_app : forall p q, value (p ++ q) = value p + value q.
Proof. induction p as [| [c m] p IH]; intros q; cbn [app value]; [| rewrite IH]; lia. Qed.

Lemma power_app : forall m n, power (m ++ n) = power m * power n.
Proof. induction m as [| i m IH]; intros n; cbn [app power]; [| rewrite IH]; ring. Qed.

Theorem value_scaled : forall k p, value (scaled k p) = k * value p.
Proof.
  unfold scaled. induction p as [| [c m] p IH]; cbn [map value fst snd] in *; [ring |].
  rewrite IH. ring.
Qed.

Lemma value_term : forall c m p, value (term_times (c, m) p) = c * power m * value p.
Proof.
  unfold term_times. induction p as [| [d n] p IH]; cbn [map value fst snd] in *; [ring |].
  rewrite IH, power_app. ring.
Qed.

Theorem value_times : forall p q, value (times p q) = value p * value q.
Proof.
  induction p as [| [c m] p IH]; intros q; [reflexivity |].
  change (times ((c, m) :: p) q) with (term_times (c, m) q ++ times p q).
  rewrite value_app, value_term, IH. cbn [value]. ring.
Qed.

(* The order of terms, and of atoms in a monomial, does not matter; like terms are added. *)

Theorem value_order : forall p q, Permutation p q -> value p = value q.
Proof.
  induction 1 as [| [c m] p q _ IH | [c m] [d n] p | p q r _ IH _ IH2]; simpl; try lia.
Qed.

Theorem power_order : forall m n, Permutation m n -> power m = power n.
Proof. induction 1; simpl; [reflexivity | congruence | ring | congruence]. Qed.

Theorem value_collect : forall c d m p, value ((c, m) :: (d, m) :: p) = value ((c + d, m) :: p).
Proof. intros. simpl. ring. Qed.

(* PF02: sums of products of facts. A summand has a factor and the values of its facts. *)

Definition product (facts : list Z) : Z := fold_right Z.mul 1 facts.
Definition total (summands : list (Z * list Z)) : Z :=
  fold_right (fun s rest => fst s * product (snd s) + rest) 0 summands.

Definition positive (s : Z * list Z) : Prop := 0 < fst s /\ Forall (fun x => 0 <= x) (snd s).
Definition zero (s : Z * list Z) : Prop := In 0 (snd s).

Lemma product_positive : forall l, Forall (fun x => 0 <= x) l -> 0 <= product l.
Proof. induction 1; simpl; [lia | apply Z.mul_nonneg_nonneg; assumption]. Qed.

Lemma product_zero : forall l, In 0 l -> product l = 0.
Proof.
  induction l as [| x l IH]; simpl; [tauto |].
  intros [-> | there]; [reflexivity | rewrite (IH there); ring].
Qed.

Theorem sum_of_products :
  forall l, Forall (fun s => positive s \/ zero s) l -> 0 <= total l.
Proof.
  induction 1 as [| [c facts] l [[c_positive all] | there] _ IH]; simpl in *; [lia | |].
  - assert (0 <= product facts) by (apply product_positive; assumption). nia.
  - rewrite (product_zero facts there). lia.
Qed.

Theorem sum_of_zeros : forall l, Forall zero l -> total l = 0.
Proof.
  induction 1 as [| [c facts] l there _ IH]; simpl in *; [reflexivity |].
  rewrite (product_zero facts there). lia.
Qed.

End Values.

(* PF03: cuts. *)

Theorem cut : forall d y p, 1 <= d -> 0 <= p -> 0 <= d * y + d - 1 - p -> 0 <= y.
Proof. intros. nia. Qed.

Theorem cut_equation : forall d y, 1 <= d -> d * y = 0 -> y = 0.
Proof. intros. nia. Qed.

(* PF04: remainders. The division of Coq rounds down, as `//` does. *)

Theorem floor_low : forall a b, 0 < b -> 0 <= a - b * (a / b).
Proof. intros. pose proof (Z.mul_div_le a b). lia. Qed.

Theorem floor_high : forall a b, 0 < b -> 0 <= b - 1 - a + b * (a / b).
Proof. intros. pose proof (Z.mul_succ_div_gt a b). lia. Qed.

Theorem negative_divisor : forall a b, b < 0 -> a / b = - a / - b.
Proof. intros. rewrite Z.div_opp_opp; lia. Qed.

(* PF05: a quotient by its remainder. *)

Theorem quotient : forall a b y, 0 < b -> 0 <= a - b * y -> 0 <= b - 1 - a + b * y -> a / b = y.
Proof. intros. symmetry. apply (Z.div_unique a b y (a - b * y)); lia. Qed.

(* PF06 to PF09. *)

Theorem strict : forall p, p <> 0 -> 0 <= p -> 0 <= p - 1.
Proof. lia. Qed.

Theorem squeeze : forall p, 0 <= p -> 0 <= - p -> p = 0.
Proof. lia. Qed.

Theorem factor : forall y z, y * z <> 0 -> y <> 0.
Proof. intros y z different ->. apply different. reflexivity. Qed.

(* PF10 and PF11: maxima and choices. *)

Theorem maximum : forall p,
  0 <= Z.max p 0 /\ 0 <= Z.max p 0 - p
  /\ ((0 <= p /\ Z.max p 0 - p = 0) \/ (0 <= - p - 1 /\ Z.max p 0 = 0)).
Proof. lia. Qed.

Theorem choice : forall c : bool, let x := if c then 1 else 0 in
  0 <= x /\ 0 <= 1 - x /\ ((c = true /\ x - 1 = 0) \/ (c = false /\ x = 0)).
Proof. intros []; simpl; lia. Qed.

(* PF12 and PF13: alternatives, and the opposites that the checker takes. *)

Theorem not_zero : forall p, p <> 0 -> 0 <= p - 1 \/ 0 <= - p - 1.
Proof. lia. Qed.

Theorem not_nonnegative : forall p, ~ 0 <= p <-> 0 <= - p - 1.
Proof. lia. Qed.
