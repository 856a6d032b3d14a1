import { type EvmPayoutSenderSettings, openEvmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { localEvmSigner } from '@market/chains/local-signers'
import { TooFewProviders } from '@market/core/ports/chain'
import type { PayoutSender, SignedPayout } from '@market/core/ports/payout-sender'
import { startEvmNetwork } from '@market/testing/evm-network'
import { MULTICALL3 } from '@market/testing/multicall3'
import { encodeFunctionData, parseAbi, toFunctionSelector, toHex } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { blockOf, newPayout, payOut, treasuryWith } from './evm-movements.ts'
import { FINALITY, newAccount, settingsFor } from './evm-world.ts'
import { type Mood, type NodeRelay, type RpcCall, relayTo } from './node-relay.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const relays = await Promise.all(Array.from({ length: 3 }, () => relayTo(network.url)))
const [first, second, third] = relays as [NodeRelay, NodeRelay, NodeRelay]
afterAll(async () => {
  for (const relay of relays) await relay.stop()
  await network.stop()
})
beforeEach(() => {
  for (const relay of relays) relay.mood = { kind: 'pass' }
})

const changing = (result: (call: RpcCall, result: unknown) => unknown): Mood => ({ kind: 'change', result })
const dataOf = ({ params }: RpcCall) => String((params[0] as { data?: string } | undefined)?.data)
const STATE = toFunctionSelector('authorizationState(address,bytes32)')
const VERSION = toFunctionSelector('version()')
const isCallOf = (selector: string) => (call: RpcCall) =>
  call.method === 'eth_call' && dataOf(call).startsWith(selector)

describe('at start', () => {
  const open = (changes: Partial<EvmPayoutSenderSettings> = {}, gas = [newAccount()]) => {
    const treasury = newAccount()
    const settings = settingsFor(network, treasury.address, { rpcUrls: [first.url], ...changes })
    const signers = gas.map(({ key }) => localEvmSigner(key))
    return openEvmPayoutSender(settings, localEvmSigner(treasury.key), signers)
  }
  const codeAt = (address: string | undefined, code: string): Mood =>
    changing(({ method, params }, result) =>
      method === 'eth_getCode' && (address === undefined || params[0] === address) ? code : result,
    )

  test('opens where the token, Multicall3 and the accounts are as they must be', async () => {
    expect((await open()).network).toBe('base-mainnet')
  })

  test('rejects a network without Multicall3', async () => {
    first.mood = codeAt(MULTICALL3, '0x')
    await expect(open()).rejects.toThrow(`base-mainnet: Multicall3 is not deployed at ${MULTICALL3}`)
  })

  test('rejects a treasury with code', async () => {
    first.mood = codeAt(undefined, `0xef0100${'ab'.repeat(20)}`)
    await expect(open()).rejects.toThrow('has code (EIP-7702), so USDC would ask the code for signatures')
  })

  test('rejects a token without EIP-3009, whether its code reverts or returns nothing', async () => {
    const message = `${network.usdc} has no authorizationState (EIP-3009)`
    const revert = { code: 3, message: 'execution reverted', when: isCallOf(STATE) }
    first.mood = { kind: 'error', ...revert }
    await expect(open()).rejects.toThrow(message)
    first.mood = changing((call, result) => (isCallOf(STATE)(call) ? '0x' : result))
    await expect(open()).rejects.toThrow(message)
  })

  test('rejects a token without or with another EIP-712 domain', async () => {
    first.mood = { kind: 'error', code: 3, message: 'execution reverted', when: isCallOf(VERSION) }
    await expect(open()).rejects.toThrow(`${network.usdc} has no EIP-712 domain`)
    const version = encodeFunctionData({
      abi: parseAbi(['function v(string version)']),
      args: ['1'],
    }).replace(/^0x.{8}/, '0x')
    first.mood = changing((call, result) => (isCallOf(VERSION)(call) ? version : result))
    await expect(open()).rejects.toThrow(
      `the EIP-712 domain of ${network.usdc} is not "USD Coin", version "1"`,
    )
  })

  test('rejects no gas account, one twice, and the treasury as one', async () => {
    const [gas, treasury] = [newAccount(), newAccount()]
    await expect(open({}, [])).rejects.toThrow('payouts need at least one gas account')
    await expect(open({}, [gas, newAccount(), gas])).rejects.toThrow('is configured twice')
    const settings = settingsFor(network, treasury.address)
    const signer = localEvmSigner(treasury.key)
    await expect(openEvmPayoutSender(settings, signer, [signer])).rejects.toThrow(
      `the gas account ${treasury.address} must not be the treasury`,
    )
  })

  test('throws `unavailable` while no node responds', async () => {
    first.mood = { kind: 'reset' }
    await expect(open()).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe('an authorization that two providers decide about', () => {
  const NAMES = ['amber', 'blue', 'coral']
  const openWorld = async (nodes: readonly NodeRelay[], recentMs = 0) => {
    const { sender } = await treasuryWith(network, {
      rpcUrls: nodes.map(({ url }) => url),
      providers: NAMES.slice(0, nodes.length),
      minProviders: 2,
      recentMs,
    })
    return sender
  }
  const mineAfter = async ({ validTo }: SignedPayout) => {
    await network.rpc('evm_setNextBlockTimestamp', [toHex(validTo + 1n)])
    await network.mine(1 + FINALITY)
  }
  const signedBy = async (sender: PayoutSender) => {
    const payout = newPayout(5n)
    return { payout, signed: await sender.sign(payout, 0) }
  }
  const isFinalTag = ({ method, params }: RpcCall) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized'
  const withTime = (change: (time: bigint) => bigint, tags: readonly string[]): Mood =>
    changing(({ method, params }, result) => {
      if (method !== 'eth_getBlockByNumber' || !tags.includes(String(params[0]))) return result
      const block = result as { timestamp: string }
      return { ...block, timestamp: toHex(change(BigInt(block.timestamp))) }
    })
  const UNKNOWN = { kind: 'unknown' }

  test('is expired when both have a final block after it and show the nonce unused', async () => {
    const sender = await openWorld([first, second])
    const { signed } = await signedBy(sender)
    await mineAfter(signed)
    expect(await sender.observe([signed])).toEqual({ kind: 'expired' })
  })

  test('is not expired while only one of them has a final block after it', async () => {
    const sender = await openWorld([first, second])
    const { signed } = await signedBy(sender)
    first.mood = withTime((time) => time + 100_000n, ['latest', 'finalized'])
    expect(await sender.observe([signed])).toEqual(UNKNOWN)
    await mineAfter(signed)
    const old = await network.rpc('eth_getBlockByNumber', ['0x1', false])
    first.mood = changing((call, result) => (isFinalTag(call) ? old : result))
    expect(await sender.observe([signed])).toEqual({ kind: 'ending' })
  })

  test('is not expired while one of them has no final block after it when the nonce is read', async () => {
    const sender = await openWorld([first, second], 3_600_000)
    const { signed } = await signedBy(await openWorld([first, second]))
    await mineAfter(signed)
    expect(await sender.observe([signed])).toEqual({ kind: 'expired' })
    const old = await network.rpc('eth_getBlockByNumber', ['0x1', false])
    second.mood = changing((call, result) => (isFinalTag(call) ? old : result))
    expect(await sender.observe([signed])).toEqual(UNKNOWN)
    second.mood = { kind: 'reset' }
    expect(await sender.observe([signed])).toEqual(UNKNOWN)
  })

  test('is seen when one of three shows its nonce used, and expired without the one that does not respond', async () => {
    const sender = await openWorld(relays)
    const { payout, signed } = await signedBy(sender)
    await mineAfter(signed)
    third.mood = { kind: 'reset' }
    expect(await sender.observe([signed])).toEqual({ kind: 'expired' })
    third.mood = changing((call, result) => (isCallOf(STATE)(call) ? toHex(1n, { size: 32 }) : result))
    expect(await sender.observe([signed])).toEqual({ kind: 'seen', reference: signed.reference })
    third.mood = { kind: 'pass' }
    await payOut(network, sender, payout, 0n)
    await network.mine(FINALITY)
    expect(await sender.observe([signed])).toEqual({ kind: 'seen', reference: signed.reference })
  })

  test('is valid for 30 minutes of the time that both have reached', async () => {
    const sender = await openWorld([first, second])
    first.mood = withTime((time) => time + 100_000n, ['latest'])
    const { signed } = await signedBy(sender)
    const newest = BigInt((await blockOf(network, 'latest')).at.getTime() / 1_000)
    expect(signed.validTo).toBe(newest + 1_799n)
  })

  test('is not signed while too few respond, and a signed one is still sent', async () => {
    const sender = await openWorld([first, second])
    const { signed } = await signedBy(sender)
    second.mood = { kind: 'reset' }
    await expect(sender.sign(newPayout(5n), 0)).rejects.toThrow(TooFewProviders)
    expect(await sender.observe([signed])).toEqual(UNKNOWN)
    first.mood = { kind: 'reset' }
    await expect(sender.observe([signed])).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
