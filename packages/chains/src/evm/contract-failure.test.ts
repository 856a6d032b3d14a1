import { encodeErrorResult, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { failureReason } from './contract-failure.ts'

const reasonOf = (reason: string) =>
  failureReason({
    code: 3,
    message: 'execution reverted',
    data: encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: [reason] }),
  })

test('the reason of a contract is kept', () => {
  expect(reasonOf('deposits are paused')).toBe('deposits are paused')
})

test('a reason is short and has nothing that the database rejects', () => {
  expect(reasonOf(`a\0b\n${'x'.repeat(5_000)}`)).toMatch(/^a b x{196}$/)
})
