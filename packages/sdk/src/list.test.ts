import { expect, test } from 'vitest'
import { iterate } from './list.ts'

const PAGES: Readonly<Record<string, { data: number[]; next_cursor: string | null }>> = {
  '': { data: [1, 2], next_cursor: 'a' },
  a: { data: [], next_cursor: 'b' },
  b: { data: [3], next_cursor: null },
}

function listed() {
  const requests: string[] = []
  const list = iterate<number>(async (cursor = '') => {
    requests.push(cursor)
    const page = PAGES[cursor]
    if (page === undefined) throw new Error(cursor)
    return page
  })
  return { list, requests }
}

test('requests nothing until it is used', () => {
  expect(listed().requests).toEqual([])
})

test('awaited twice: one request and the first page', async () => {
  const { list, requests } = listed()
  expect([await list, await list]).toEqual([PAGES[''], PAGES['']])
  expect(requests).toEqual([''])
})

test('iterated: the items of all pages, also after an empty one', async () => {
  const { list, requests } = listed()
  const items: number[] = []
  for await (const item of list) items.push(item)
  expect(items).toEqual([1, 2, 3])
  expect(requests).toEqual(['', 'a', 'b'])
})

test('left early: no more requests', async () => {
  const { list, requests } = listed()
  for await (const item of list) if (item === 2) break
  expect(requests).toEqual([''])
})
