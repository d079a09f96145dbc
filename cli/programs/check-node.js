/**
 * Ends the build with one sentence where Node.js does not run TypeScript. Plain JavaScript: any version of Node.js runs it. The package
 * `node` brings the right one by its install script, which `npm ci --ignore-scripts` leaves out.
 */
if (!process.features.typescript) {
  process.stderr.write(
    `hoplog: Node.js ${process.version} cannot run this release, and the Node.js 22 of its packages is not installed, as after ` +
      '"npm ci --ignore-scripts": run "npm rebuild --ignore-scripts=false"\n',
  );
  process.exit(1);
}
