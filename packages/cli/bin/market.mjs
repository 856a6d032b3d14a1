#!/usr/bin/env node
import { existsSync } from 'node:fs'

// The published package has the bundle only. In a checkout the sources run, because the bundle could be an older one.
const sources = new URL('../src/main.ts', import.meta.url)
if (existsSync(sources)) await import('../../../scripts/check-node.mjs')
await import(existsSync(sources) ? sources.href : '../dist/market.mjs')
