import { encodeErrorResult, parseAbi, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { failureReason, revertReason } from './contract-failure.ts'

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

test('the reason of a call in a batch is its text, the name of a known error, or the data', () => {
  const text = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: ['deposits are\npaused'] })
  expect(revertReason(text)).toBe('deposits are paused')
  const known = encodeErrorResult({
    abi: parseAbi(['error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)']),
    args: [zeroAddress, 3n, 4n],
  })
  expect(revertReason(known)).toBe(`ERC20InsufficientBalance(${zeroAddress}, 3, 4)`)
  expect(revertReason('0x12345678')).toBe('reverted with 0x12345678')
  expect(revertReason('0x')).toBe('reverted without a reason')
})
