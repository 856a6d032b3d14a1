import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createVitest, type TestSpecification } from 'vitest/node'
import { LONG_FILES } from '../../vitest.config.ts'
import { type FileResult, summaryOf } from '../support/summary.ts'

const nameOf = ({ project, moduleId }: TestSpecification): string => `${project.name} ${moduleId}`

/** What `vitest run --shard index/count` runs, by the configuration of this repository. */
async function filesOf(shard?: string): Promise<string[]> {
  const vitest = await createVitest('test', { watch: false, ...(shard !== undefined && { shard }) })
  try {
    const specifications = await vitest.globTestSpecifications()
    const { sequencer: Sequencer } = vitest.config.sequence
    const own = shard === undefined ? specifications : await new Sequencer(vitest).shard(specifications)
    return own.map(nameOf)
  } finally {
    await vitest.close()
  }
}

test('--shard: three shards together run every file once', async () => {
  const all = await filesOf()
  const shards = [await filesOf('1/3'), await filesOf('2/3'), await filesOf('3/3')]
  expect(shards.flat().toSorted()).toEqual(all.toSorted())
  for (const shard of shards) expect(shard.length).toBeGreaterThanOrEqual(Math.floor(all.length / 3))
})

test.each(Object.keys(LONG_FILES))('LONG_FILES: %s exists', (path) => {
  expect(existsSync(path)).toBe(true)
})

describe('summary', () => {
  const file = (path: string, seconds: number, own: Partial<FileResult> = {}): FileResult => ({
    ...{ path, seconds, project: 'unit', passed: 1, skipped: 0, failures: [] },
    ...own,
  })
  const short = Array.from({ length: 98 }, (_, at) => file(`short-${at}.test.ts`, 1))
  const summary = (files: readonly FileResult[], isSharded = false, reasons = {}) =>
    summaryOf({ files, errors: 0, isSharded }, reasons)

  test('names a file above 2 % of all worker seconds', () => {
    const { text, isGood } = summary([...short, file('long.test.ts', 2.1)])
    expect(isGood).toBe(true)
    expect(text).toContain('long: long.test.ts takes 2.1 s')
  })

  test('fails with the name and seconds of a file above 3 % of all worker seconds', () => {
    const { text, isGood } = summary([...short, file('long.test.ts', 3.1)])
    expect(isGood).toBe(false)
    expect(text).toContain('failed: long.test.ts takes 3.1 s')
    expect(text).toMatch(/\n99 passed, 1 failed\n$/)
  })

  test('passes with a file of 2 %, one with a reason, or any file of a shard', () => {
    expect(summary([...short, file('long.test.ts', 2)]).isGood).toBe(true)
    expect(summary([...short, file('long.test.ts', 50)], false, { 'long.test.ts': 'why' }).isGood).toBe(true)
    expect(summary([...short, file('long.test.ts', 50)], true).isGood).toBe(true)
  })

  test('fails with failed tests, errors outside of tests, and when nothing was run', () => {
    expect(summary([...short, file('a.test.ts', 1, { failures: ['x returns 1'] })]).text).toContain(
      'failed: a.test.ts: x returns 1',
    )
    expect(summaryOf({ files: short, errors: 1, isSharded: false }, {}).isGood).toBe(false)
    expect(summary([]).text).toMatch(/\n0 passed, 1 failed\n$/)
  })

  test('prints the seconds of each project', () => {
    const { text } = summary([...short, file('a.test.ts', 1, { project: 'browser', skipped: 2 })])
    expect(text).toContain('98.0 s  unit (98 files)')
    expect(text).toContain('1.0 s  browser (1 files)')
    expect(text).toMatch(/, 2 skipped\n$/)
  })
})
