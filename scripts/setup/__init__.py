"""Everything that must be installed: the environment, the browser, node.

    environment.py     creates `.venv` and `node_modules`; standard library only
    browser.py         finds a browser for the tests, or installs one
    node.py            the node that comes with the Python packages
    vision.py          installs timm and torchvision apart from the rest
    oldest.py          runs the package's tests with the oldest numpy
    machine.py         describes the machine that a measurement ran on
    reader.py          runs what a reader runs in a fresh clone, with times
    bare_debian.py     tries the README's commands on a minimal Debian

Imports nothing from the project.
"""
