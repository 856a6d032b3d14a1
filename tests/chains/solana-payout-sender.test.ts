import { setTimeout as wait } from 'node:timers/promises'
import { fetchTransaction } from '@market/chains/solana/read-transfer'
import { priceOf } from '@market/chains/solana/sign-payout'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { type SolanaPayoutSender, solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import type { PayoutRequest, SignedPayout, SignedPayoutOutcome } from '@market/core/ports/payout-sender'
import { usdc } from '@market/kernel/money'
import { chainOf } from '@market/solvency'
import { address, generateKeyPairSigner, getBase58Encoder, signature } from '@solana/kit'
import { getFreezeAccountInstruction } from '@solana-program/token'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { InTrouble, lyingAboutExpiry, type SolanaRelay, startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

/** A blockhash expires after 150 slots, and the observation waits for about 60 more. */
/** A blockhash is valid for 150 slots. A busy machine must be able to sign and send within them. */
const SLOT_TIME_MS = 20
const FLOAT = 10n ** 12n

let world: SolanaWorld
let sender: SolanaPayoutSender
const relays: SolanaRelay[] = []

beforeAll(async () => {
  world = await startSolanaWorld({ slotTimeMs: SLOT_TIME_MS })
  await world.usdc.fund(world.treasury.address, FLOAT)
  sender = solanaPayoutSender(world.settings, world.signer)
})
afterAll(() => world.stop())
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()))
})

const relayed = async () => {
  const relay = await startSolanaRelay(world.chain.url)
  relays.push(relay)
  return relay
}
const railOver = (...urls: string[]) => solanaPayoutSender({ ...world.settings, rpcUrls: urls }, world.signer)

let count = 0
const newOrder = async (amount = 1_000_000n, to?: string): Promise<PayoutRequest> => {
  count += 1
  return {
    mark: `po_${count}`,
    to: to ?? (await generateKeyPairSigner()).address,
    amount: usdc(amount),
    opensAccount: true,
  }
}

const lookUntil = async (
  over: SolanaPayoutSender,
  signed: readonly SignedPayout[],
  ...kinds: SignedPayoutOutcome['kind'][]
) => {
  for (;;) {
    const outcome = await over.observe(signed)
    if (kinds.includes(outcome.kind)) return outcome
    await wait(SLOT_TIME_MS)
  }
}

/** Signs, sends and observes until the payout has ended. Signs again only after expiry. */
const payOut = async (over: SolanaPayoutSender, order: PayoutRequest): Promise<readonly SignedPayout[]> => {
  const signed: SignedPayout[] = []
  for (;;) {
    const next = await over.sign(order, signed.length)
    signed.push(next)
    for (;;) {
      await over.send(next).catch(() => {})
      const { kind } = await over.observe(signed)
      if (kind === 'final') return signed
      if (kind === 'failed') throw new Error('the payout failed')
      if (kind === 'expired') break
      await wait(20 * SLOT_TIME_MS)
    }
  }
}

const memoOf = async (reference: string): Promise<string | undefined> => {
  const transaction = await fetchTransaction(world.rpc, signature(reference))
  const { accountKeys = [], instructions = [] } = transaction?.transaction.message ?? {}
  const memo = instructions.find(({ programIdIndex }) => accountKeys[programIdIndex]?.startsWith('Memo'))
  return memo && Buffer.from(getBase58Encoder().encode(memo.data)).toString()
}

describe('a payout', () => {
  test('to a new payee creates the account, costs the estimate and contains its id', async () => {
    const order = await newOrder(2_500_000n)
    const cost = await sender.estimateCost(order)
    expect(cost).toEqual({ native: 2_044_360n, createsAccount: true })
    const before = await sender.nativeBalance()
    const signed = await sender.sign(order, 0)
    await sender.send(signed)
    expect(await lookUntil(sender, [signed], 'final')).toEqual({ kind: 'final', reference: signed.reference })

    expect(await world.usdc.balanceOf(order.to)).toBe(2_500_000n)
    expect(before - (await sender.nativeBalance())).toBe(cost.native)
    expect(await memoOf(signed.reference)).toBe(`${order.mark}#1`)
    expect(await sender.estimateCost(order)).toEqual({ native: 5_080n, createsAccount: false })
  })

  test('is not an incoming payment', async () => {
    const [signed] = await payOut(sender, await newOrder())
    const observation = await solanaChain(world.settings).findTransfer({
      reference: signed?.reference ?? '',
      minAmount: usdc(1n),
      notBefore: new Date(0),
      notAfter: new Date(Date.now() + 3_600_000),
    })
    expect(observation).toEqual({ kind: 'rejected', reason: 'own_transfer' })
  })

  test('equal to another one with the same blockhash has a different signature, and both are paid', async () => {
    const still = await relayed()
    const blockhash = world.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
    const { context, value } = await blockhash
    const lastValidBlockHeight = Number(value.lastValidBlockHeight)
    still.manner = async (call, ask) => {
      if (call.method === 'getBlockHeight') return lastValidBlockHeight - 150
      if (call.method !== 'getLatestBlockhash') return ask()
      return {
        context: { slot: Number(context.slot) },
        value: { blockhash: value.blockhash, lastValidBlockHeight },
      }
    }
    const over = railOver(still.url)
    const payee = (await generateKeyPairSigner()).address
    const signed = await Promise.all(
      [await newOrder(7n, payee), await newOrder(7n, payee)].map((order) => over.sign(order, 0)),
    )
    expect(new Set(signed.map(({ reference }) => reference)).size).toBe(2)
    expect(new Set(signed.map(({ validTo }) => validTo)).size).toBe(1)
    await Promise.all(signed.map((one) => sender.send(one)))
    for (const one of signed) await lookUntil(sender, [one], 'final')
    expect(await world.usdc.balanceOf(payee)).toBe(14n)
  })

  test('sent many times, before and after its execution, is paid once', async () => {
    const order = await newOrder(3n)
    const signed = await sender.sign(order, 0)
    await Promise.all([sender.send(signed), sender.send(signed), sender.send(signed)])
    await lookUntil(sender, [signed], 'seen', 'final')
    await sender.send(signed)
    await lookUntil(sender, [signed], 'final')
    await sender.send(signed)
    expect(await world.usdc.balanceOf(order.to)).toBe(3n)
  })

  test('with an expired blockhash is signed again and paid once', async () => {
    const order = await newOrder(5n)
    const dead = await sender.sign(order, 0)
    expect((await sender.observe([dead])).kind).toBe('unknown')
    await lookUntil(sender, [dead], 'expired')
    const finalized = await world.rpc.getBlockHeight({ commitment: 'finalized' }).send()
    expect(finalized).toBeGreaterThan(dead.validTo)

    const second = await sender.sign(order, 1)
    await sender.send(dead).catch(() => {})
    await sender.send(second)
    const outcome = await lookUntil(sender, [dead, second], 'final')
    expect(outcome).toEqual({ kind: 'final', reference: second.reference })
    await sender.send(dead).catch(() => {})
    expect(await world.usdc.balanceOf(order.to)).toBe(5n)
    expect(await memoOf(second.reference)).toBe(`${order.mark}#2`)
  })

  test('is executed once when the node drops 85 % of accepted transactions', async () => {
    const lossy = await relayed()
    let sent = 0
    lossy.manner = async (call, ask) => {
      if (call.method !== 'sendTransaction') return ask()
      sent += 1
      // A fixed share, independent of the timing.
      return sent % 20 < 3 ? ask() : '1'.repeat(64)
    }
    const over = railOver(lossy.url)
    const orders = await Promise.all(
      Array.from({ length: 15 }, (_, index) => newOrder(1_000n + BigInt(index))),
    )
    const before = await world.usdc.balanceOf(world.treasury.address)
    const attempts = await Promise.all(orders.map((order) => payOut(over, order)))
    const balances = await Promise.all(orders.map(({ to }) => world.usdc.balanceOf(to)))
    expect(balances).toEqual(orders.map(({ amount }) => amount))
    const total = orders.reduce((sum, { amount }) => sum + amount, 0n)
    expect(before - (await world.usdc.balanceOf(world.treasury.address))).toBe(total)
    // Some payouts had to be signed again.
    expect(attempts.some((signed) => signed.length > 1)).toBe(true)
  })

  test('above the treasury balance fails in its block, with the reason', async () => {
    const order = await newOrder(FLOAT * 10n)
    const signed = await sender.sign(order, 0)
    await sender.send(signed)
    const outcome = await lookUntil(sender, [signed], 'failed')
    expect(outcome).toMatchObject({ reference: signed.reference, reason: expect.stringContaining('Custom') })
  })
})

describe('a transaction does not count as expired', () => {
  const deadOrder = async () => {
    const signed = await sender.sign(await newOrder(), 0)
    await lookUntil(sender, [signed], 'expired')
    return signed
  }

  test('when the node of its blockhash reports a last valid height that is too low', async () => {
    const lying = await relayed()
    lying.manner = lyingAboutExpiry
    const height = await world.rpc.getBlockHeight({ commitment: 'processed' }).send()
    const order = await newOrder(11n)
    const signed = await railOver(lying.url, world.chain.url).sign(order, 0)
    expect(signed.validTo).toBeGreaterThanOrEqual(height + 150n)
    expect(await sender.observe([signed])).toEqual({ kind: 'unknown' })
    await sender.send(signed)
    expect((await lookUntil(sender, [signed], 'final', 'expired')).kind).toBe('final')
    expect(await world.usdc.balanceOf(order.to)).toBe(11n)
  })

  test('when only one of two nodes can be reached', async () => {
    const signed = await deadOrder()
    const away = await relayed()
    away.manner = async () => {
      throw new InTrouble({ kind: 'reset' })
    }
    expect(await railOver(world.chain.url, away.url).observe([signed])).toEqual({ kind: 'unknown' })
    away.manner = (_call, ask) => ask()
    expect(await railOver(world.chain.url, away.url).observe([signed])).toEqual({ kind: 'expired' })
  })

  test('when the history of a node starts after the signing', async () => {
    const signed = await deadOrder()
    const forgetful = await relayed()
    const recent = await world.rpc.getSlot({ commitment: 'confirmed' }).send()
    forgetful.manner = async (call, ask) =>
      call.method === 'getFirstAvailableBlock' ? Number(recent) - 1 : ask()
    expect(await railOver(forgetful.url).observe([signed])).toEqual({ kind: 'unknown' })
  })

  test('when the statuses are older than the height', async () => {
    const signed = await deadOrder()
    const stale = await relayed()
    stale.manner = async (call, ask) => {
      const result = await ask()
      return call.method === 'getSignatureStatuses' ? { ...(result as object), context: { slot: 1 } } : result
    }
    expect(await railOver(stale.url).observe([signed])).toEqual({ kind: 'unknown' })
  })

  test('when one node does not have a payment that another one has: it is paid', async () => {
    const order = await newOrder(9n)
    const [signed] = await payOut(sender, order)
    if (signed === undefined) throw new Error('nothing was signed')
    const denying = await relayed()
    denying.manner = async (call, ask) => {
      const result = await ask()
      return call.method === 'getSignatureStatuses' ? { ...(result as object), value: [null] } : result
    }
    const paid = { kind: 'final', reference: signed.reference }
    // Only after its last valid height could it be signed again.
    const both = railOver(denying.url, world.chain.url)
    expect(await lookUntil(both, [signed], 'final', 'expired')).toEqual(paid)
  })
})

describe('a payee is rejected', () => {
  const apiErrorOf = async (to: string, over = sender) => over.rejectionReason(await newOrder(1n, to))

  test('when it is not a wallet that can sign', async () => {
    const offCurve = await world.usdc.accountOf(world.issuer.address)
    const system = '11111111111111111111111111111111'
    for (const to of ['', 'abc', `0x${'ab'.repeat(20)}`, offCurve, system]) {
      expect(await apiErrorOf(to)).toMatch(/not a Solana wallet that can sign/)
    }
  })

  test('when it is an own wallet', async () => {
    const cold = (await generateKeyPairSigner()).address
    const over = solanaPayoutSender({ ...world.settings, ownAddresses: [cold] }, world.signer)
    expect(await apiErrorOf(cold, over)).toMatch(/wallet of the marketplace/)
    expect(await apiErrorOf(world.treasury.address, over)).toMatch(/wallet of the marketplace/)
    expect(await apiErrorOf(cold)).toBeUndefined()
  })

  test('when it is an account of a program', async () => {
    expect(await apiErrorOf(world.usdc.mint)).toMatch(/account of a program/)
  })

  test('when its USDC account is frozen', async () => {
    const frozen = await world.wallet(1n)
    expect(await apiErrorOf(frozen.address)).toBeUndefined()
    const account = address(await world.usdc.accountOf(frozen.address))
    const freeze = { account, mint: address(world.usdc.mint), owner: world.issuer }
    await world.run(world.issuer, [getFreezeAccountInstruction(freeze)])
    expect(await apiErrorOf(frozen.address)).toMatch(/frozen by its issuer/)
  })
})

test('groups: ten payouts fit in a transaction, and each is found by its index', async () => {
  const payouts = await Promise.all(
    Array.from({ length: sender.groups.size }, async (_, at) => {
      const to = (await generateKeyPairSigner()).address
      await world.usdc.fund(to, 0n)
      return { mark: `pay_${String(at).padStart(32, '0')}`, to, amount: usdc(1_000_000n + BigInt(at)) }
    }),
  )
  const signed = await sender.groups.sign(payouts)
  expect(Buffer.from(signed.bytes, 'base64').length).toBeLessThanOrEqual(1_232)
  await sender.send(signed)
  expect(await lookUntil(sender, [signed], 'final', 'failed')).toMatchObject({ kind: 'final' })
  for (const { to, amount } of payouts) expect(await world.usdc.balanceOf(to)).toBe(amount)
  const found = await fetchTransaction(world.rpc as never, signature(signed.reference))
  expect(Number(found?.meta?.computeUnitsConsumed)).toBeLessThan(payouts.length * 30_000)
  expect(found?.meta?.fee).toBeLessThanOrEqual(sender.groups.share(payouts.length) * BigInt(payouts.length))

  const node = { rpc: world.chain.url, usdc: world.usdc.mint }
  const sent = (name: string) => chainOf('solana-mainnet').sent(node, world.treasury.address, name)
  expect(await sent(signed.reference)).toBe(payouts[0]?.amount)
  expect(await sent(`${signed.reference}.9`)).toBe(payouts[9]?.amount)
  for (const index of ['.0', '.03', '.10', '.']) expect(await sent(`${signed.reference}${index}`)).toBe(0n)
})

test('groups: a payout is not paid twice by one transaction', async () => {
  const payout = await newOrder()
  await expect(sender.groups.sign([payout, payout])).rejects.toThrow('each payout is paid once')
})

test('priceOf: quadruples the price with each attempt, up to the limit', () => {
  const prices = [1, 2, 3, 6, 9].map((attempt) => priceOf(attempt, 1_000n))
  expect(prices).toEqual([1_000n, 4_000n, 16_000n, 1_000_000n, 1_000_000n])
  expect(priceOf(2, 5_000_000n)).toBe(5_000_000n)
})

test('rejects a signer of another treasury', async () => {
  const other = (await generateKeyPairSigner()).address
  expect(() => solanaPayoutSender({ ...world.settings, treasury: other }, world.signer)).toThrow(
    /treasury's key/,
  )
})
