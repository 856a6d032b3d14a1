import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packClients } from '../../scripts/pack.ts'
import { type Dev, startDev } from '../journeys/dev-process.ts'
import { readPage } from './guide-blocks.ts'
import { runGuide } from './run-guide.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const GUIDES = globSync('docs/guides/*.md', { cwd: ROOT })
  .filter((path) => !path.endsWith('README.md'))
  .toSorted()

let dev: Dev
beforeAll(async () => {
  await packClients(`${ROOT}/dist/packages`, ['mcp-stdio'])
  dev = await startDev()
})
afterAll(() => dev?.clear())

const countOf = (page: string, fence: RegExp): number => page.match(fence)?.length ?? 0

test.each(GUIDES)('%s: every block runs, and every response is as it is shown', async (path) => {
  await dev.control('/limits/reset', {})
  const { ran, compared } = await runGuide(dev.at, path)
  const page = readPage(path)
  // The first one starts the marketplace.
  expect(ran).toBe(countOf(page, /^```(?:sh|js|ts|python)$/gm) - 1)
  expect(compared).toBe(countOf(page, /^```\n\n```json$/gm))
})
