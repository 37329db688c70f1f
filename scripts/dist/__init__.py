"""What a release consists of: sdist, wheel, archive of the vectors, npm package; all checked.

    build.py        builds the four
    declarations.py the types of the npm package, from the schema of the vectors
    check.py        installs them where nothing else is, and uses them
    npm/            the JavaScript, the README and the package.json of the npm package

Imports: posenc, setup.
"""
