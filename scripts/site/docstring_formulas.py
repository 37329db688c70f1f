"""Sets the formulas of docstrings as mathematics on reference pages.

A docstring has its formulas in plain characters, which a terminal shows. mkdocstrings loads this
file as an extension: it replaces each formula listed here by TeX before the page is rendered. The
listings of the package keep the plain characters.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

# Without "}}", which ends a bound number.
IN_SENTENCES = {
    "(1 + r₂·distance)^(−r₁)": r"(1 + r_2\cdot\text{distance})^{-r_1}",
    "−r₁·distance^r₂": r"-r_1\cdot\text{distance}^{r_2}",
    "−r₁·log(1 + r₂·distance)": r"-r_1\log(1 + r_2\,\text{distance})",
    "−r₁·log(1 + r₂·|key − query|)": r"-r_1\log(1 + r_2\,|\text{key} - \text{query}|)",
    "−r₁·|key − query|^r₂": r"-r_1\,|\text{key} - \text{query}|^{r_2}",
    "10000·2π": r"{10000\cdot2\pi}",
    "2^(−8h/H)": r"2^{-8h/H}",
    "2π/ω_i": r"2\pi/\omega_i",
    "2π/ω_k": r"2\pi/\omega_k",
    "2π·base": r"2\pi\cdot\text{base}",
    "2π·base^((d−2)/d)": r"{2\pi\cdot\text{base}^{(d-2)/d} }",
    "D − A": "D - A",
    "D^(−1/2)·(D − A)·D^(−1/2)": r"D^{-1/2} (D - A)\,D^{-1/2}",
    "I − D^(−1/2)·A·D^(−1/2)": r"I - D^{-1/2} A\,D^{-1/2}",
    "M(a) @ M(b) = M(a + b)": r"M(a)\,M(b) = M(a + b)",
    "PE(p + lag)": r"\mathrm{PE}(p + \text{lag})",
    "PE(p + offset) = M @ PE(p)": r"\mathrm{PE}(p + \text{offset}) = M\,\mathrm{PE}(p)",
    "PE(p)": r"\mathrm{PE}(p)",
    "R(a) @ R(b) = R(a + b)": r"R(a)\,R(b) = R(a + b)",
    "R(m)ᵀ @ R(n) = R(n − m)": r"R(m)^\top R(n) = R(n - m)",
    "S(p) = sin + i·cos = i·e^(−ipω)": (
        r"S(p) = \sin{} + \mathrm i\cos = \mathrm i\,e^{-\mathrm i p\omega}"
    ),
    "U_K": "U_K",
    "U_Q": "U_Q",
    "a_ij": "a_{ij}",
    "a_ij = w_{clip(j−i, k)}": r"a_{ij} = w_{\operatorname{clip}(j-i,\,k)}",
    "base · f^(d/(d−2))": r"\text{base}\cdot f^{d/(d-2)}",
    "base · factor^(d/(d−2))": r"\text{base}\cdot\text{factor}^{d/(d-2)}",
    "cos(a − b) = cos a cos b + sin a sin b": r"\cos(a - b) = \cos a\cos b + \sin a\sin b",
    "cos(lag·ω_i)": r"\cos(\text{lag}\cdot\omega_i)",
    "cos(p·ω_i)": r"\cos(p\,\omega_i)",
    "base^(−4j/d)": r"\text{base}^{-4j/d}",
    "distance^(B−E) ≥ max_distance^s · E^(B−E−s)": (
        r"\text{distance}^{B-E} \ge \text{max\_distance}^s \cdot E^{B-E-s}"
    ),
    "e^(i·pω)": r"e^{\mathrm i p\omega}",
    "e^(x+y) = e^x·e^y": r"e^{x+y} = e^x\cdot e^y",
    "e^(−ibω)": r"e^{-\mathrm i b\omega}",
    "e^{imω}·e^{−inω} = e^{−i(n−m)ω}": (
        r"e^{\mathrm i m\omega}\cdot e^{-\mathrm i n\omega} = e^{-\mathrm i(n-m)\omega}"
    ),
    "e^{i·pω}": r"e^{\mathrm i p\omega}",
    "offset·ω_i": r"\text{offset}\cdot\omega_i",
    "p/factor": r"p/\text{factor}",
    "pω_i": r"p\,\omega_i",
    "p·√d": r"p\sqrt d",
    "q_i · a_ij": r"q_i\cdot a_{ij}",
    "q·kᵀ": r"q\,k^\top",
    "r = Lω_i/2π": r"r = L\omega_i/2\pi",
    "sin(p·ω_i)": r"\sin(p\,\omega_i)",
    "softmax(q kᵀ/√d + B) v": r"\operatorname{softmax}(q\,k^\top/\sqrt d + B)\,v",
    "trained·ω_i": r"\text{trained}\cdot\omega_i",
    "Σ cos(lag·ω_i)": r"\sum_i\cos(\text{lag}\cdot\omega_i)",
    "Σ q·k̄": r"\sum q\,\bar k",
    "Σ cos(ω_i·(key − query)) / (8h/H)": (
        r"\frac{H}{8h}\sum_i\cos(\omega_i\,(\text{key} - \text{query}))"
    ),
    "γ": r"\gamma",
    "ζ_i": r"\zeta_i",
    "ζ_i^(position/512)": r"\zeta_i^{\text{position}/512}",
    "ζ_i^(±position/scale_base)": r"\zeta_i^{\pm\text{position}/\text{scale\_base} }",
    "ω_i": r"\omega_i",
    "ω_i / factor": r"\omega_i/\text{factor}",
    "ω_i / long_i": r"\omega_i/\text{long}_i",
    "ω_i / short_i": r"\omega_i/\text{short}_i",
    "ω_i = base^(−2i/d)": r"\omega_i = \text{base}^{-2i/d}",
    "ω_k": r"\omega_k",
    "√((1 − p²)·width/2)·p^l": r"\sqrt{(1 - p^2)\cdot\text{width}/2}\cdot p^l",
    "√(1 + ln(factor) / ln L)": r"\sqrt{1 + \ln(\text{factor})/\ln L}",
    "√(1/t)": r"\sqrt{1/t}",
    "√(d/2)": r"\sqrt{d/2}",
    "√(d_model/2)": r"\sqrt{d_\text{model}/2}",
    "√2": r"\sqrt2",
    "√d": r"\sqrt d",
    "√d_model": r"\sqrt{d_\text{model} }",
}
# Blocks, indented by four spaces.
DISPLAYED = {
    "((1 − γ)/factor + γ) ω_i,   γ = (r − slow) / (fast − slow), clipped to [0, 1]": (
        r"\begin{gathered} \Bigl(\frac{1-\gamma}{\text{factor} } + \gamma\Bigr)\,\omega_i \\[1ex] "
        r"\gamma = \frac{r - \text{slow} }{\text{fast} - \text{slow} } \text{ within } [0, 1] "
        r"\end{gathered}"
    ),
    "((1 − γ)/factor + γ) ω_i,   γ = (r − low) / (high − low), clipped to [0, 1]": (
        r"\begin{gathered} \Bigl(\frac{1-\gamma}{\text{factor} } + \gamma\Bigr)\,\omega_i \\[1ex] "
        r"\gamma = \frac{r - \text{low} }{\text{high} - \text{low} } \text{ within } [0, 1] "
        r"\end{gathered}"
    ),
    "(length/2π)^(d/c),   c = critical_dimension(d, trained_length, base=base)": (
        r"\Bigl(\frac{\text{length} }{2\pi}\Bigr)^{d/c}, \quad c \text{ the critical dimension}"
    ),
    "f = 1 + factor · (length − L) / L   beyond the trained length L, and 1 up to it": (
        r"\begin{gathered} f = 1 + \text{factor}\cdot\frac{\text{length} - L}{L} \\ "
        r"\text{beyond } L, \text{ and } 1 \text{ up to it} \end{gathered}"
    ),
    "frequency of pair i = base^(−i/(half − shift)),   half = d_model/2": (
        r"\begin{gathered} \text{frequency of pair } i = "
        r"\text{base}^{-i/(\text{half}-\text{shift})} \\ "
        r"\text{half} = d_\text{model}/2 \end{gathered}"
    ),
    "γ(p) = (sin(2⁰·u·p), cos(2⁰·u·p), …, sin(2ᴸ⁻¹·u·p), cos(2ᴸ⁻¹·u·p))   with u = π": (
        r"\begin{gathered} \gamma(p) = (\sin 2^0 u p,\ \cos 2^0 u p,\ \dots, \\ "
        r"\sin 2^{L-1} u p,\ \cos 2^{L-1} u p), \quad u = \pi \end{gathered}"
    ),
    "ω_k = share · 2π / length": r"\omega_k = \text{share}\cdot\frac{2\pi}{\text{length} }",
    "Σ_i cos(rω_i) ≥ 0   for 0 ≤ r ≤ length": (
        r"\sum_i\cos(r\,\omega_i) \ge 0 \quad\text{for } 0 \le r \le \text{length}"
    ),
    "S(a + b) = S(a)·e^(−ibω)": r"S(a + b) = S(a)\,e^{-\mathrm i b\omega}",
    "[cos  −sin]\n    [sin   cos]": r"\begin{pmatrix} \cos & -\sin \\ \sin & \cos \end{pmatrix}",
    "[ cos  sin]\n    [−sin  cos]": r"\begin{pmatrix} \cos & \sin \\ -\sin & \cos \end{pmatrix}",
}


def _alternatives(formulas: dict[str, str]) -> str:
    """Return a pattern of any of the formulas, longest first, which may be wrapped at a space."""
    longest = sorted(formulas, key=len, reverse=True)
    return "|".join(re.escape(text).replace(r"\ ", r"\s+") for text in longest)


DISPLAY = re.compile(rf"^ {{4}}({'|'.join(map(re.escape, DISPLAYED))})$", re.M)
# Code, which stays, or a formula that is not part of a longer word.
IN_SENTENCE = re.compile(
    rf"`[^`\n]*`|^ *(?:>>>|\.\.\.) .*$|\$\$.*?\$\$|(?<!\w)({_alternatives(IN_SENTENCES)})(?!\w)",
    re.M | re.S,
)


def with_mathematics(text: str) -> str:
    """Return a docstring with its formulas as TeX.

    Examples:
        >>> print(with_mathematics("It turns by pω_i, which `ω_i` names."))
        It turns by $p\\,\\omega_i$, which `ω_i` names.
    """
    text = DISPLAY.sub(lambda found: f"$$\n{DISPLAYED[found[1]]}\n$$", text)
    return IN_SENTENCE.sub(_inline_formula, text)


def _inline_formula(found: re.Match[str]) -> str:
    formula = " ".join(found[1].split()) if found[1] else ""
    return f"${IN_SENTENCES[formula]}$" if formula else found[0]


class DocstringFormulas(griffe.Extension):
    """Replaces the formulas of a package's docstrings."""

    def on_instance(self, *, obj: griffe.Object, **about: Any) -> None:
        """Replace those of one object."""
        if obj.docstring:
            obj.docstring.value = with_mathematics(obj.docstring.value)
