#!/usr/bin/env bash
# Runs the pixel in pages of real frameworks: npm run test:frameworks
set -euo pipefail
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
npm run --silent build
cd ../..
npx vitest run --config test/frameworks/vitest.config.ts test/frameworks
