// cc -O2 -o rotation rotation.c -lm && posenc vectors run -- ./rotation
// SPDX-License-Identifier: MIT
#include "vectors.h"

static void rope(double *x, int length, int d, const double *positions, double base) {
  for (int n = 0; n < length; n++)
    for (int i = 0; i < d / 2; i++) {
      double angle = positions[n] * pow(base, -2.0 * i / d);
      double *a = x + n * d + i, *b = a + d / 2, first = *a;
      *a = first * cos(angle) - *b * sin(angle);
      *b = first * sin(angle) + *b * cos(angle);
    }
}

int main(void) {
  static char line[VECTORS_LINE];
  static double x[VECTORS_MOST], positions[VECTORS_MOST];
  int axes, shape[VECTORS_AXES], unused, other[VECTORS_AXES];
  while (vectors_question(line, "[\"rotation\"]", "float64")) {
    vectors_numbers(line, "x", x, &axes, shape);
    vectors_numbers(line, "positions", positions, &unused, other);
    int more = vectors_after(line, "rotary_d") || vectors_after(line, "frequencies");
    if (axes > 2 || more || !vectors_is(line, "layout", "half")) {
      vectors_unsupported(line, "only whole heads, in halves, without a batch");
      continue;
    }
    rope(x, shape[0], shape[1], positions, vectors_number(line, "base", 10000));
    vectors_ok(line, x, axes, shape);
  }
}
