import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { BUGS } from '../faults/money/bugs.ts'

const ROOT = new URL('../../', import.meta.url)
const occurrences = (file: string, text: string): number =>
  readFileSync(new URL(file, ROOT), 'utf8').split(text).length - 1

const CHANGES = BUGS.flatMap(({ name, changes }) =>
  changes.map(({ file, from }) => ({ name, file: `packages/${file}`, from })),
)

test.each(CHANGES)('$name: the text that it changes is in $file once', ({ file, from }) => {
  expect(occurrences(file, from)).toBe(1)
})
