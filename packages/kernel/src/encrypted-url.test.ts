import { expect, test } from 'vitest'
import { unencryptedUrls } from './encrypted-url.ts'

const isRejected = (name: string, url: string, more = {}): boolean =>
  unencryptedUrls({ [name]: url, ...more }).some((fault) => fault.startsWith(`${name}: must be encrypted`))

test.each([
  ['DATABASE_URL', 'postgres://u:p@db.example/market'],
  ['DATABASE_URL', 'postgres://u:p@db.example/market?sslmode=require'],
  ['DATABASE_URL', 'postgres://u:p@db.example/market?sslmode=verify-full&sslmode=disable'],
  ['DATABASE_URL', 'postgres://u:p@localhost/market?host=db.example'],
  ['DATABASE_URL', 'postgres://u:p@localhost.example/market'],
  ['DATABASE_URL', 'postgres:///market'],
  ['REDIS_URL', 'redis://cache.example:6379'],
  ['IDP_ISSUER', 'http://login.example'],
  ['PRICES_URL', 'http://prices.example/{mints}'],
  ['SWAP_URL', 'http://swaps.example/ultra'],
  ['SCREENING_URL', 'http://screening.example/check'],
  ['KMS_ENDPOINT', 'http://kms.example'],
])('%s: %s is rejected (asvs V12.1)', (name, url) => {
  expect(isRejected(name, url)).toBe(true)
  expect(isRejected(name, url, { MARKET_ENV: 'production' })).toBe(true)
  expect(isRejected(name, url, { MARKET_ENV: 'development' })).toBe(false)
})

test.each([
  ['DATABASE_URL', 'postgres://u:p@db.example/market?sslmode=verify-full'],
  ['DATABASE_URL', 'postgres://u:p@127.0.0.1:5432/market'],
  ['DATABASE_URL', 'postgres://u:p@[::1]/market'],
  ['DATABASE_URL', 'postgres://u@%2Fvar%2Frun%2Fpostgresql/market'],
  ['DATABASE_URL', 'postgres://u@x/market?host=/var/run/postgresql'],
  ['REDIS_URL', 'rediss://cache.example:6379'],
  ['REDIS_URL', 'redis://localhost:6379'],
  ['IDP_ISSUER', 'https://login.example'],
  ['PRICES_URL', 'https://prices.example/?mints={mints}'],
  ['SWAP_URL', 'https://swaps.example/ultra'],
  ['SCREENING_URL', 'https://screening.example/check'],
  ['SCREENING_URL', 'http://127.0.0.1:9000/check'],
])('%s: %s is accepted', (name, url) => expect(isRejected(name, url)).toBe(false))
