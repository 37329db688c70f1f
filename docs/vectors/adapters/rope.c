/* Rotary positions, ALiBi and Shaw's index in C, as a program that answers the test vectors.

     cc -O2 -o rope docs/vectors/adapters/rope.c -lm
     python -m posenc vectors run -- ./rope

   SPDX-License-Identifier: MIT */

#include "vectors.h"

enum { MOST = VECTORS_MOST };

/* Rotate `part` dimensions, from x on, of each of `count` vectors that are d wide. The members of a
   pair are `apart`, or neighbours if that is 1. */
static void rotate(double *x, int count, int d, int part, const double *positions,
                   const double *omega, double base, int apart) {
  for (int n = 0; n < count; n++)
    for (int i = 0; i < part / 2; i++) {
      double *a = x + n * d + (apart > 1 ? i : 2 * i), *b = a + apart;
      double angle = positions[n] * (omega ? omega[i] : pow(base, -2.0 * i / part));
      double first = *a, second = *b;
      *a = first * cos(angle) - second * sin(angle);
      *b = first * sin(angle) + second * cos(angle);
    }
}

static void rotation(const char *line) {
  static double x[MOST], positions[MOST], omega[MOST];
  int axes, shape[VECTORS_AXES], unused, other[VECTORS_AXES];
  int count = vectors_numbers(line, "x", x, &axes, shape), d = shape[axes - 1];
  int places = vectors_numbers(line, "positions", positions, &unused, other);
  int pairs = vectors_numbers(line, "frequencies", omega, &unused, other);
  double part = vectors_number(line, "rotary_d", d), base = vectors_number(line, "base", 10000);
  int half = vectors_is(line, "layout", "half");
  if (axes > 3) { vectors_unsupported(line, "only (batch, length, d)"); return; }
  if (d % 2 || (int)part % 2 || part > d || base <= 0 || (pairs && pairs != part / 2) ||
      (!half && !vectors_is(line, "layout", "interleaved")) || places * d != count) {
    vectors_refused(line, "the widths, the layout, the base or the positions");
    return;
  }
  int apart = half ? (vectors_is(line, "pairs", "head") ? d : (int)part) / 2 : 1;
  int begin = vectors_is(line, "part", "last") ? d - (int)part : 0;
  for (int n = 0; n < places && vectors_after(line, "inverse"); n++) positions[n] = -positions[n];
  rotate(x + begin, places, d, (int)part, positions, pairs ? omega : NULL, base, apart);
  vectors_ok(line, x, axes, shape);
}

static void alibi(const char *line) {
  static double slopes[MOST];
  double heads = vectors_number(line, "heads", 0);
  int below = 1, count = (int)heads, ranks = (int)vectors_number(line, "ranks", 1);
  if (heads < 1 || heads != count || count > MOST) { vectors_refused(line, "heads"); return; }
  while (2 * below <= count) below *= 2;
  for (int h = 0; h < count; h++)
    slopes[h] = pow(2, h < below ? -8.0 * (h + 1) / below : -4.0 * (2 * (h - below) + 1) / below);
  int rank = (int)vectors_number(line, "rank", 0);
  if (count % ranks || rank < 0 || rank >= ranks) { vectors_refused(line, "rank"); return; }
  count /= ranks;
  vectors_ok(line, slopes + rank * count, 1, &count);
}

static void shaw(const char *line) {
  static double index[MOST];
  int queries = (int)vectors_number(line, "query_length", 0);
  int shape[2] = {queries, (int)vectors_number(line, "key_length", 0)};
  double far = vectors_number(line, "max_distance", -1);
  if (far < 0 || far != floor(far) || queries < 0) { vectors_refused(line, "lengths"); return; }
  for (int q = 0; q < queries; q++)
    for (int k = 0; k < shape[1]; k++)
      index[q * shape[1] + k] = fmin(fmax(k - q, -far), far) + far;
  vectors_ok(line, index, 2, shape);
}

int main(void) {
  static char line[VECTORS_LINE];
  while (vectors_question(line, "[\"rotation\", \"alibi\", \"shaw\"]", "float64")) {
    if (vectors_is(line, "suite", "rotation")) rotation(line);
    else if (vectors_is(line, "suite", "alibi")) alibi(line);
    else shaw(line);
  }
}
