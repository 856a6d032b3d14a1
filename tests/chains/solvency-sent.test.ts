import { chainOf } from '@market/solvency'
import { startEvmNetwork } from '@market/testing/evm-network'
import { type Hex, toHex } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { newPayout, payOut, submitSigned, treasuryWith } from './evm-movements.ts'
import { authorizedBy, fundedPayer } from './evm-world.ts'
import { relayTo } from './node-relay.ts'
import { isOf } from './relayed-world.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const relay = await relayTo(network.url)
afterAll(async () => {
  await relay.stop()
  await network.stop()
})
afterEach(() => {
  relay.mood = { kind: 'pass' }
})

const sentFor = (treasury: string, mark: string, rpc = network.url) =>
  chainOf('base-mainnet').sent({ rpc, usdc: network.usdc }, treasury, mark)

test('what left for a payout is the transfer of its authorization, whoever sent the transaction', async () => {
  const { sender, account } = await treasuryWith(network)
  const payouts = [newPayout(3n), newPayout(4n), newPayout(5n)]
  const signed = await Promise.all(payouts.map((payout) => sender.sign(payout, 0)))
  expect(await sentFor(account.address, payouts[0]?.mark ?? '')).toBe(0n)
  const { reference } = await submitSigned(sender, signed.slice(0, 2), 0n)
  await network.included(reference as Hex)
  await network.call(await fundedPayer(network), network.usdc, signed[2]?.bytes as Hex)
  for (const { mark, amount } of payouts) expect(await sentFor(account.address, mark)).toBe(amount)
})

test('nothing left for an authorization of another account, to the treasury itself, or for other text', async () => {
  const { sender, account } = await treasuryWith(network)
  const payout = newPayout(3n)
  const { reference } = await payOut(network, sender, payout, 0n)
  const other = await fundedPayer(network)
  expect(await sentFor(other.address, payout.mark)).toBe(0n)
  for (const text of [reference, 'pay_1', '', payout.mark.slice(0, -2), `${payout.mark}00`])
    expect(await sentFor(account.address, text)).toBe(0n)
  const own = await authorizedBy(network, account, account.address, 9n)
  await network.callMany(network.usdc, [own])
  expect(await sentFor(account.address, `0x${own.slice(2 + 2 * (4 + 5 * 32), 2 + 2 * (4 + 6 * 32))}`)).toBe(
    0n,
  )
})

test('a node that returns logs of few blocks is read in smaller parts, and an error of the node is one', async () => {
  const { sender, account } = await treasuryWith(network)
  const payout = newPayout(3n)
  await payOut(network, sender, payout, 0n)
  await network.mine(100)
  const isLarge = (most: bigint) => ({
    kind: 'error' as const,
    code: -32_602,
    message: `query returned more than ${most} blocks`,
    when: ({ method, params }: { method: string; params: readonly unknown[] }) => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as Record<string, string>
      return method === 'eth_getLogs' && BigInt(toBlock ?? 0) - BigInt(fromBlock ?? 0) >= most
    },
  })
  relay.mood = isLarge(20n)
  expect(await sentFor(account.address, payout.mark, relay.url)).toBe(3n)
  expect(await sentFor(account.address, toHex(1n, { size: 32 }), relay.url)).toBe(0n)
  relay.mood = { kind: 'error', code: -32_000, message: 'upstream busy', when: isOf('eth_getLogs') }
  await expect(sentFor(account.address, payout.mark, relay.url)).rejects.toThrow('upstream busy')
})

test('a payout in a block that is older than an hour is not in flight any more', async () => {
  const later = await startEvmNetwork({ chainId: 8453 })
  try {
    const { sender, account } = await treasuryWith(later)
    const payout = newPayout(3n)
    const old = BigInt(Math.floor(Date.now() / 1_000)) - 3_700n
    await later.rpc('evm_setTime', [Number(old)])
    await later.mine(1)
    await payOut(later, sender, payout, 0n)
    const sent = () =>
      chainOf('base-mainnet').sent({ rpc: later.url, usdc: later.usdc }, account.address, payout.mark)
    expect(await sent()).toBe(0n)
    await later.rpc('evm_setTime', [Math.floor(Date.now() / 1_000)])
    await later.mine(1)
    expect(await sent()).toBe(0n)
  } finally {
    await later.stop()
  }
})
