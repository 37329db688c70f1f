"""The schemes of the package: one entry each, which the tests of all schemes read.

An entry is a `Scheme`, in the file of its wing and named like its module in `posenc/`: `KERPLE` in
scores.py for `posenc/scores/kerple.py` and `posenc/nn/kerple.py`. It has good and bad arguments of
every public name, and for each way to make its module what that must equal by definition.

    table.py      what an entry is made of, and all entries by name
    arrays.py     bad values for arguments that several functions share
    tensors.py    good and bad tensors
    embeddings.py, rotary.py, axes.py, graphs.py, scores.py, others.py    the entries

tests/package/test_arguments.py, tests/package/test_dtypes.py, tests/nn/test_schemes.py,
tests/nn/test_bad_input.py, tests/nn/test_inside_transforms.py and tests/nn/test_package.py run on
all of them.
"""
