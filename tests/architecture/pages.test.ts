import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { drawStates } from '../../scripts/draw-states.ts'

const read = (file: string) => readFileSync(file, 'utf8')

describe('ARCHITECTURE.md', () => {
  const page = read('ARCHITECTURE.md')

  test('has the state diagrams of orders, payouts, wallet transactions and venue transfers', () => {
    expect([...page.matchAll(/<!-- states:(\w+) -->\n```mermaid/g)].map(([, name]) => name)).toEqual([
      'orders',
      'payouts',
      'wallets',
      'venueTransfers',
    ])
  })

  test('shows the states of the code; run `npm run docs:states` when it does not', () => {
    expect(drawStates(page)).toBe(page)
  })
})

test('CONTRIBUTING.md: names every script of package.json', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const page = read('CONTRIBUTING.md')
  const missing = Object.keys(scripts).filter(
    (name) =>
      // npm runs these by themselves.
      !name.startsWith('pre') &&
      !page.includes(`npm run ${name}`) &&
      !page.includes(`npm ${name}`) &&
      !page.includes(`\`${name}\``),
  )
  expect(missing).toEqual([])
})

describe('docs/architecture/walkthrough.md', () => {
  const MOST_FILES = 60
  const tours = read('docs/architecture/walkthrough.md').split(/^## /m).slice(1)

  test.each(tours.map((tour) => [tour.split('\n')[0], tour]))(
    '%s: at most 60 files, and all exist',
    (_name, tour) => {
      const steps = [...tour.matchAll(/^(\d+)\. `([^`]+)`/gm)].map(([, number, file]) => ({
        number: Number(number),
        file,
      }))
      const files = steps.map(({ file }) => `packages/${file}`)
      expect(steps.map(({ number }) => number)).toEqual(steps.map((_step, at) => at + 1))
      expect(files.length).toBeGreaterThan(0)
      expect(files.length).toBeLessThanOrEqual(MOST_FILES)
      expect(files.filter((file) => !existsSync(file))).toEqual([])
      expect(new Set(files).size).toBe(files.length)
    },
  )
})

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/glossary.md',
  'docs/architecture/walkthrough.md',
]

test.each(PAGES)('%s: every link to a file works', (page) => {
  const targets = [...read(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
  expect(targets.filter((target) => !existsSync(join(dirname(page), target)))).toEqual([])
})

test.each(PAGES)('%s: every file that it names exists', (page) => {
  const named = [
    ...read(page).matchAll(/`((?:apps|docs|packages|scripts|tests)\/[\w./-]+\.(?:ts|md|sql))`/g),
  ].map(([, file = '']) => file)
  expect(named.filter((file) => !file.includes('NNNN') && !existsSync(file))).toEqual([])
})
