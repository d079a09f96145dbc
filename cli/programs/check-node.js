/**
 * Stops the build if Node.js cannot run TypeScript. Plain JavaScript, so that any version runs it. The package `node`
 * installs the right version with its install script, which `npm ci --ignore-scripts` skips.
 */
if (!process.features.typescript) {
  process.stderr.write(
    `hoplog: Node.js ${process.version} cannot run this release, and the Node.js 22 of its packages is not installed, as after ` +
      '"npm ci --ignore-scripts": run "npm rebuild --ignore-scripts=false"\n',
  );
  process.exit(1);
}
