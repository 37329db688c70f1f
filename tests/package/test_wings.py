"""The wings of the package: who imports whom, and what is found where it was before them."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import posenc

FOLDER = Path(posenc.__file__).parent
# From the ground up: a wing imports only what stands before it. The command may import
# all of them.
FLOORS = (
    "_arguments",
    "_tensor_arguments",
    "_console",
    "_angles",
    "frequency",
    "positions",
    "layers",
    "embeddings",
    "rotary",
    "axes",
    "graphs",
    "scores",
    "config",
    "vectors",
    "diagnose",
    "nn",
)
WINGS = ("axes", "config", "embeddings", "graphs", "rotary", "scores")
# The modules before the package had wings, and what was public in each.
FORMER = {
    "alibi": "alibi_bias alibi_key_bias alibi_rows alibi_slopes",
    "attention": "attention causal_mask",
    "base": "critical_dimension extended_base smallest_base",
    "baselines": "counting_encoding no_encoding",
    "combine": "add concatenate",
    "config": "RotaryConfig read_config",
    "cope": "cope_positions cope_scores",
    "dape": "dape_bias",
    "deberta": "deberta_buckets deberta_index disentangled_scores",
    "features": "fourier_features gaussian_frequencies nerf_encoding timestep_embedding",
    "fire": "fire_bias fire_shares",
    "forgetting": "forgetting_bias",
    "frequencies": "frequencies wavelengths",
    "graphormer": "centrality_rows graph_distances graphormer_bias graphormer_index",
    "kerple": "kerple_log_bias kerple_power_bias",
    "laplacian": "graph_laplacian laplacian_eigenvectors",
    "layers": "layer_types rotating_layers",
    "learned": "LearnedPositionalEmbedding resize_table",
    "mrope": "mrope_frequencies mrope_positions",
    "path": "path_scores",
    "random_walk": "random_walk_encoding",
    "relative": "relative_positions relative_row relative_shift relative_view shaw_index",
    "renumber": (
        "dual_chunk_relative log_scale pose_positions random_positions rerope_relative"
        " self_extend_relative sink_mask"
    ),
    "resize": "resize_grid resize_weights",
    "rotary": (
        "apply_rope apply_rope_complex convert_layout convert_projection convert_qkv rope_matrix"
        " rotary_frequencies"
    ),
    "rotary_nd": (
        "apply_rope_nd axial_frequencies frequencies_by_axis mixed_frequencies rotary_matrix"
    ),
    "sandwich": "sandwich_bias",
    "scaling": (
        "dynamic_frequencies interpolated_frequencies llama3_frequencies longrope_frequencies"
        " longrope_temperature ntk_frequencies proportional_frequencies riflex_frequencies"
        " yarn_frequencies yarn_temperature"
    ),
    "sinusoidal": (
        "PositionalEncoding shift_matrix similarity sinusoidal_encoding sinusoidal_table"
    ),
    "sinusoidal_nd": "grid_positions sinusoidal_encoding_nd",
    "swin": "swin_bias swin_index swin_log_offsets",
    "t5": "t5_bias t5_bucket_starts t5_buckets t5_rows",
    "transformer_xl": "transformer_xl_rows transformer_xl_scores",
    "trees": "tree_choices tree_encoding",
    "tupe": "tupe_bias untied_bias",
    "xpos": "apply_xpos xpos_decay",
}


def floor(path: str) -> str:
    """Return the wing of a module, or the module itself if it lies in none."""
    return path.split(".")[1]


def imports(file: Path) -> set[str]:
    """Return the wings that a file imports, anywhere in it."""
    tree = ast.walk(ast.parse(file.read_text("utf-8")))
    modules = [node.module for node in tree if isinstance(node, ast.ImportFrom) and node.module]
    return {floor(module) for module in modules if module.startswith("posenc.")}


def files(wing: str) -> list[Path]:
    """Return the files of a wing, or the one file of a module."""
    return sorted((FOLDER / wing).rglob("*.py")) or [FOLDER / f"{wing}.py"]


@pytest.mark.parametrize("wing", FLOORS)
def test_a_wing_imports_only_what_lies_below_it(wing: str) -> None:
    found = set[str]().union(*map(imports, files(wing)))
    assert found - {wing} <= {*FLOORS[: FLOORS.index(wing)]}


def test_every_module_has_its_floor() -> None:
    names = {module.name for module in pkgutil.iter_modules([str(FOLDER)])}
    assert names - {"__main__"} == {*FLOORS}


def test_an_import_upwards_is_found(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("def late():\n    from posenc.scores.alibi import alibi_bias\n")
    assert imports(planted) == {"scores"}


def test_no_module_is_named_like_a_public_function() -> None:
    numpy_alone = FLOORS[: FLOORS.index("vectors")]
    names = {path.stem for wing in numpy_alone for path in files(wing)} | {*numpy_alone}
    assert names & {*posenc.__all__} == set()


@pytest.mark.parametrize("module", FORMER)
def test_a_former_module_has_the_names_that_it_had(module: str) -> None:
    former = importlib.import_module(f"posenc.{module}")
    for name in FORMER[module].split():
        assert getattr(former, name) is getattr(posenc, name)


def test_every_former_name_is_public() -> None:
    assert {name for names in FORMER.values() for name in names.split()} <= {*posenc.__all__}
    assert len(FORMER) == 36
