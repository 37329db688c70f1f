"""What has to be on the machine: the environment, the browser, node.

    environment.py     makes `.venv` and `node_modules`; standard library only
    browser.py         finds the tests' browser, or installs one
    node.py            the node that comes with the Python packages
    machine.py         the machine that a number was measured on, in words
    bare_debian.py     tries the README's commands on a Debian that has nothing

Imports nothing of the project.
"""
