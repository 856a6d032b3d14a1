import { expect, test } from 'vitest'
import { columns, rowReader, rowWriter } from './rows.ts'
import type { Tables } from './tables.ts'

type Price = Tables['listing_prices']
interface PastPrice {
  readonly listingId: `svc_${string}`
  readonly price: bigint
  readonly validUntil: Date
}

const NAMES = columns('listing_prices', 'price_micros')
const at = new Date('2026-03-01T10:00:00Z')
const row = { listing_id: 'svc_1', price_micros: 5n, valid_until: at }
const price: PastPrice = { listingId: 'svc_1', price: 5n, validUntil: at }

const read = rowReader<Price, PastPrice>()(NAMES, { price: (from) => from.price_micros })
const write = rowWriter<Price, PastPrice>()(NAMES, { price_micros: (from) => from.price })

test('a row: is read into its fields, without columns of other tables', () => {
  const joined = { ...row, job: 1 }
  expect(read(joined)).toEqual(price)
  expect(write(price)).toEqual(row)
})

test('a row: two that are read are two objects', () => {
  expect(read(row)).not.toBe(read(row))
  expect(read({ ...row, price_micros: 6n }).price).toBe(6n)
})

test('a column or field without its other half: does not compile', () => {
  const all = columns('listing_prices')
  // @ts-expect-error price_micros has no field of its name
  rowReader<Price, PastPrice>()(all, { price: (from) => from.price_micros })
  // @ts-expect-error nothing reads the field price
  rowReader<Price, PastPrice>()(NAMES, {})
  // @ts-expect-error nothing is written into price_micros
  rowWriter<Price, PastPrice>()(NAMES, {})
  // @ts-expect-error null is no Date
  rowReader<{ valid_until: Date | null }, Pick<PastPrice, 'validUntil'>>()(['valid_until'], {})
  // @ts-expect-error nothing is written into note, which can be null
  rowWriter<Price & { note: string | null }, PastPrice>()(NAMES, { price_micros: (from) => from.price })
  expect(all).toEqual(['listing_id', 'price_micros', 'valid_until'])
})
