import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { drawStates } from '../../scripts/draw-states.ts'

const read = (file: string) => readFileSync(file, 'utf8')

describe('ARCHITECTURE.md', () => {
  const page = read('ARCHITECTURE.md')

  test('has the state diagrams of orders and payouts', () => {
    expect([...page.matchAll(/<!-- states:(\w+) -->\n```mermaid/g)].map(([, name]) => name)).toEqual([
      'orders',
      'payouts',
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
      !page.includes(`npm run ${name}`) && !page.includes(`npm ${name}`) && !page.includes(`\`${name}\``),
  )
  expect(missing).toEqual([])
})
