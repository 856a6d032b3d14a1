import type { OrderId } from '@market/kernel/ids'
import { rotateKeys, testKeys } from '@market/testing/keys'
import { expect, test } from 'vitest'
import { accessTokenOf, isAccessToken } from './access-token.ts'

const keys = testKeys()
const ORDER = 'ord_1' as OrderId
const OTHER = 'ord_2' as OrderId

test('isAccessToken: accepts the token of the order, and no other text', () => {
  const token = accessTokenOf(keys, ORDER)
  expect(isAccessToken(keys, ORDER, token)).toBe(true)
  for (const wrong of ['', accessTokenOf(keys, OTHER), token.slice(1), `${token}A`])
    expect(isAccessToken(keys, ORDER, wrong)).toBe(false)
})

test('isAccessToken: accepts a token of a former key while it is configured, and not after', () => {
  const { both, newOnly } = rotateKeys(keys, 'ACCESS_TOKEN_KEYS')
  const [old, fresh] = [accessTokenOf(keys, ORDER), accessTokenOf(both, ORDER)]
  expect(fresh).not.toBe(old)
  expect([old, fresh].map((token) => isAccessToken(both, ORDER, token))).toEqual([true, true])
  expect([old, fresh].map((token) => isAccessToken(newOnly, ORDER, token))).toEqual([false, true])
})
