import { type EvmPayoutSenderSettings, evmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { readAuthorization } from '@market/chains/evm/payout-authorization'
import { MULTICALL3 } from '@market/chains/evm/payout-batch'
import { localEvmSigner } from '@market/chains/local-signers'
import {
  type BatchFees,
  IS_PAID,
  type PayoutRequest,
  type PayoutSender,
  type SignedPayout,
} from '@market/core/ports/payout-sender'
import { startEvmNetwork } from '@market/testing/evm-network'
import { authorizationTypedData } from '@market/testing/evm-usdc'
import { type Hex, hashTypedData, parseTransaction, size, toHex, zeroAddress } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { batchesOf, blockOf, newPayout, readWhole, submitSigned, treasuryWith } from './evm-movements.ts'
import { FINALITY, fundedPayer, GWEI, newAccount, question, settingsFor, verdict } from './evm-world.ts'

const network = await startEvmNetwork({ chainId: 8453 })
afterAll(() => network.stop())
beforeEach(async () => {
  await network.automine(true)
  await network.mine(1)
})

const HALF_HOUR = 1_800n
const secondsAt = async (block: 'latest' | 'finalized') =>
  BigInt((await blockOf(network, block)).at.getTime() / 1_000)
/** The next block has this time. */
const mineAt = async (time: bigint) => {
  await network.rpc('evm_setNextBlockTimestamp', [toHex(time)])
  await network.mine(1)
}

/** A treasury with two gas accounts. */
const world = async (changes: Partial<EvmPayoutSenderSettings> = {}) => {
  const { account, chain, settings, gas } = await treasuryWith(network, changes)
  const other = newAccount()
  await network.fund(other.address)
  const gasSigners = [localEvmSigner(gas.key), localEvmSigner(other.key)]
  const sender = evmPayoutSender(settings, localEvmSigner(account.key), gasSigners)
  return { account, chain, settings, sender, gas: [gas, other] as const }
}

const signAll = (sender: PayoutSender, payouts: readonly PayoutRequest[]): Promise<SignedPayout[]> =>
  Promise.all(payouts.map((payout) => sender.sign(payout, 0)))
/** Signs the payouts with their terms, which can be those of an earlier one. */
const some = (count: number) => Array.from({ length: count }, (_, index) => newPayout(BigInt(index + 1)))
const received = (payouts: readonly PayoutRequest[]) =>
  Promise.all(payouts.map(({ to }) => network.balanceOf(to as Hex)))
const amountsOf = (payouts: readonly PayoutRequest[]) => payouts.map(({ amount }) => amount)
const payload = ({ bytes }: { readonly bytes: string }) => parseTransaction(bytes as Hex)

/** Submits and waits for its block. */
const send = async (
  sender: PayoutSender,
  signed: readonly SignedPayout[],
  from = 0,
  outbid?: BatchFees,
): Promise<Record<string, unknown> & { readonly logs: readonly unknown[]; readonly reference: string }> => {
  const nonce = await batchesOf(sender).mined(batchesOf(sender).accounts[from] ?? '')
  const { reference } = await submitSigned(sender, signed, nonce, { from, outbid })
  await network.included(reference as Hex)
  const receipt = (await network.rpc('eth_getTransactionReceipt', [reference])) as Record<string, unknown>
  return { ...receipt, reference, logs: receipt['logs'] as unknown[] }
}

test('an authorization has the payout’s mark as nonce and is valid for 30 minutes of block time', async () => {
  const { sender, account } = await world()
  const payout = newPayout(5_000_000n)
  const [signed] = await signAll(sender, [payout])
  const validBefore = (await secondsAt('latest')) + HALF_HOUR
  const terms = {
    from: account.address,
    to: payout.to as Hex,
    value: 5_000_000n,
    validAfter: 0n,
    validBefore,
    nonce: payout.mark as Hex,
  }
  expect(signed && readAuthorization(signed)).toEqual(terms)
  expect(signed).toMatchObject({
    reference: hashTypedData(authorizationTypedData(8453, network.usdc, terms)),
    validTo: validBefore - 1n,
  })
})

test('a gas account sends a batch: every payee has the money, and the treasury’s account sent nothing', async () => {
  const { sender, account, gas } = await world()
  const payouts = some(10)
  const signed = await signAll(sender, payouts)
  const batches = batchesOf(sender)
  expect(batches.accounts).toEqual(gas.map(({ address }) => address.toLowerCase()))
  const batch = await batches.sign({ account: gas[0].address, nonce: 0n, payouts: signed, outbid: undefined })
  expect(payload(batch)).toMatchObject({ to: MULTICALL3.toLowerCase(), chainId: 8453, gas: 1_060_000n })
  await batches.send(batch)
  await network.included(batch.reference as Hex)
  expect(await received(payouts)).toEqual(amountsOf(payouts))
  expect(await batches.mined(gas[0].address)).toBe(1n)
  expect(await network.rpc('eth_getTransactionCount', [account.address, 'latest'])).toBe('0x0')
})

test('100 payouts are one transaction that pools accept', async () => {
  const { sender } = await world()
  const { size: most, sign } = batchesOf(sender)
  expect(most).toBe(100)
  const payouts = some(most)
  const signed = await signAll(sender, payouts)
  const account = batchesOf(sender).accounts[0] ?? ''
  const batch = await sign({ account, nonce: 0n, payouts: signed, outbid: undefined })
  expect(size(batch.bytes as Hex)).toBeLessThan(64 * 1024)
  expect(payload(batch).gas).toBeLessThan(2n ** 24n)
  const { gasUsed } = await send(sender, signed)
  expect(await received(payouts)).toEqual(amountsOf(payouts))
  // The limit leaves a third of it unused.
  expect((BigInt(String(gasUsed)) * 3n) / 2n).toBeLessThan(payload(batch).gas ?? 0n)
  const tooMany = [...signed, ...signed.slice(0, 1)]
  await expect(sign({ account, nonce: 1n, payouts: tooMany, outbid: undefined })).rejects.toThrow(
    'a batch has 1 to 100 payouts',
  )
})

test('the same batch of two gas accounts in one block, and again in a later one, pays once', async () => {
  const { sender } = await world()
  const payouts = some(5)
  const signed = await signAll(sender, payouts)
  await network.automine(false)
  await submitSigned(sender, signed, 0n)
  await submitSigned(sender, signed, 0n, { from: 1 })
  await network.mine(1)
  await network.automine(true)
  expect((await send(sender, signed, 1)).logs).toEqual([])
  expect(await received(payouts)).toEqual(amountsOf(payouts))
})

test('sending one batch many times executes it once', async () => {
  const { sender } = await world()
  const payouts = some(2)
  await network.automine(false)
  const batch = await submitSigned(sender, await signAll(sender, payouts), 0n)
  await batchesOf(sender).send(batch)
  await network.mine(1)
  await batchesOf(sender).send(batch)
  await network.mine(FINALITY)
  expect(await received(payouts)).toEqual(amountsOf(payouts))
})

test('a payout that is signed again with a later expiry is paid once', async () => {
  const { sender } = await world()
  const payout = newPayout(9n)
  const [first] = await signAll(sender, [payout])
  await mineAt((await secondsAt('latest')) + 100n)
  const [second] = await signAll(sender, [payout])
  if (first === undefined || second === undefined) throw new Error('two are signed')
  expect(second.validTo - first.validTo).toBeGreaterThanOrEqual(100n)
  expect(second.reference).not.toBe(first.reference)
  await send(sender, [first, second])
  expect((await send(sender, [second], 1)).logs).toEqual([])
  expect(await received([payout])).toEqual([9n])
})

test('of two authorizations of one payout with other terms only one is executed', async () => {
  const { sender } = await world()
  const payout = newPayout(9n)
  const changed = { ...newPayout(8n), mark: payout.mark }
  await send(sender, await signAll(sender, [changed, payout]))
  expect(await received([changed, payout])).toEqual([8n, 0n])
})

test('two payouts to one payee in one batch are both paid', async () => {
  const { sender } = await world()
  const { to } = newPayout(1n)
  await send(sender, await signAll(sender, [newPayout(3n, to), newPayout(3n, to)]))
  expect(await network.balanceOf(to as Hex)).toBe(6n)
})

test('a blocked payee stops no other payout of its batch, and `failures` has the reason', async () => {
  const { sender } = await world()
  const payouts = some(5)
  const signed = await signAll(sender, payouts)
  const { failures } = batchesOf(sender)
  expect(await failures(signed)).toEqual(payouts.map(() => undefined))
  const denied = payouts[2]?.to as Hex
  await network.deny(denied, true)
  const reason = 'Blacklistable: account is blacklisted'
  expect(await failures(signed)).toEqual([undefined, undefined, reason, undefined, undefined])
  const { status, logs } = await send(sender, signed)
  expect(status).toBe('0x1')
  // The use and the transfer of each.
  expect(logs).toHaveLength(8)
  expect(await received(payouts)).toEqual([1n, 2n, 0n, 4n, 5n])
  expect(await failures(signed)).toEqual([IS_PAID, IS_PAID, reason, IS_PAID, IS_PAID])

  // Until it expires, anybody who has it can pay it.
  await network.deny(denied, false)
  await network.call(await fundedPayer(network), network.usdc, signed[2]?.bytes as Hex)
  expect(await network.balanceOf(denied)).toBe(3n)
})

test('`failures` names what no payout of a batch can be paid with: too little money, and a passed expiry', async () => {
  const { sender } = await world()
  const [rich, poor] = [newPayout(999_999_999n), newPayout(10n)]
  const signed = await signAll(sender, [rich, poor])
  const { failures } = batchesOf(sender)
  const [first, second] = await failures(signed)
  expect(first).toBeUndefined()
  expect(second).toBe('ERC20: transfer amount exceeds balance')
  await mineAt((signed[0]?.validTo ?? 0n) + 1n)
  const expired = 'FiatTokenV2: authorization is expired'
  expect(await failures(signed)).toEqual([expired, expired])
  expect(await failures([])).toEqual([])
})

test('another account submits one payout first: it is paid by that transaction, and the others by ours', async () => {
  const { sender, chain } = await world()
  const stranger = await fundedPayer(network)
  const payouts = some(3)
  const signed = await signAll(sender, payouts)
  const his = await network.call(stranger, network.usdc, signed[1]?.bytes as Hex)
  const ours = await send(sender, signed)
  expect(await received(payouts)).toEqual(amountsOf(payouts))
  const { outgoing } = await readWhole(chain)
  const marks = payouts.map(({ mark }) => mark)
  expect(outgoing.map(({ reference, mark }) => [reference, mark])).toEqual([
    [his, marks[1]],
    [ours.reference, marks[0]],
    [ours.reference, marks[2]],
  ])
  expect(await sender.costOf?.(his)).toBeUndefined()
})

test('a reorganization drops a batch: another gas account submits the same payouts, and each is paid once', async () => {
  const { sender } = await world()
  await network.mine(3)
  const payouts = some(3)
  const signed = await signAll(sender, payouts)
  await send(sender, signed)
  await network.reorg(1)
  expect(await received(payouts)).toEqual([0n, 0n, 0n])
  await send(sender, signed, 1)
  await send(sender, signed)
  expect(await received(payouts)).toEqual(amountsOf(payouts))
})

test('a batch with a too low fee is replaced at its nonce by one with both fees 12.5 % higher', async () => {
  const { sender } = await world()
  const payouts = some(2)
  const signed = await signAll(sender, payouts)
  await network.automine(false)
  const stuck = await submitSigned(sender, signed, 0n)
  await network.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(stuck.maxFeePerGas * 3n)])
  await network.mine(1)
  expect(await received(payouts)).toEqual([0n, 0n])
  const next = await submitSigned(sender, signed, 0n, { outbid: stuck })
  expect(next.maxFeePerGas * 1_000n).toBeGreaterThanOrEqual(stuck.maxFeePerGas * 1_125n)
  expect(next.maxPriorityFeePerGas * 1_000n).toBeGreaterThanOrEqual(stuck.maxPriorityFeePerGas * 1_125n)
  await network.mine(1)
  expect(await received(payouts)).toEqual(amountsOf(payouts))
})

test('signs no batch above the fee cap', async () => {
  const { sender } = await world({ feeCapPerGas: 30n * GWEI })
  const signed = await signAll(sender, some(1))
  const account = batchesOf(sender).accounts[0] ?? ''
  const outbid = { maxFeePerGas: 28n * GWEI, maxPriorityFeePerGas: GWEI }
  await expect(batchesOf(sender).sign({ account, nonce: 0n, payouts: signed, outbid })).rejects.toMatchObject(
    { kind: 'unavailable' },
  )
})

test('`observe`: unknown, then ending ten minutes before the expiry, and expired only by a final block', async () => {
  const { sender } = await world()
  const signed = await signAll(sender, [newPayout(4n)])
  const end = (signed[0]?.validTo ?? 0n) + 1n
  expect(await sender.observe([])).toEqual({ kind: 'unknown' })
  expect(await sender.observe(signed)).toEqual({ kind: 'unknown' })
  await mineAt(end - 601n)
  expect(await sender.observe(signed)).toEqual({ kind: 'unknown' })
  await mineAt(end - 600n)
  expect(await sender.observe(signed)).toEqual({ kind: 'ending' })
  // A later one decides for both.
  const [later] = await signAll(sender, [newPayout(4n)])
  expect(later && (await sender.observe([later, ...signed]))).toEqual({ kind: 'unknown' })

  await mineAt(end - 1n)
  const last = await blockOf(network, 'latest')
  await mineAt(end)
  // The newest block is after it, and the final one is not.
  expect(await sender.observe(signed)).toEqual({ kind: 'ending' })
  await network.mine(FINALITY - 2)
  expect((await blockOf(network, 'finalized')).height).toBe(last.height)
  expect(await sender.observe(signed)).toEqual({ kind: 'ending' })
  await network.mine(1)
  expect(await secondsAt('finalized')).toBe(end)
  expect(await sender.observe(signed)).toEqual({ kind: 'expired' })
})

test('an authorization can be executed in its last second and not in the next one', async () => {
  const { sender } = await world()
  const payouts = some(2)
  const [first, second] = await signAll(sender, payouts)
  if (first === undefined || second === undefined) throw new Error('two are signed')
  await network.automine(false)
  await submitSigned(sender, [first], 0n)
  await mineAt(first.validTo)
  await submitSigned(sender, [second], 1n)
  await mineAt(second.validTo + 1n)
  expect(await received(payouts)).toEqual([1n, 0n])
})

test('`observe`: an executed authorization is seen once its expiry is final, and never expired', async () => {
  const { sender } = await world()
  const payout = newPayout(4n)
  const [first] = await signAll(sender, [payout])
  await mineAt((await secondsAt('latest')) + 60n)
  const [second] = await signAll(sender, [payout])
  if (first === undefined || second === undefined) throw new Error('two are signed')
  await send(sender, [first])
  expect(await sender.observe([first, second])).toEqual({ kind: 'unknown' })
  await mineAt(second.validTo + 1n)
  await network.mine(FINALITY)
  const seen = { kind: 'seen', reference: second.reference }
  expect(await sender.observe([first, second])).toEqual(seen)
  expect(await sender.observe([second, first])).toEqual(seen)
})

test('`costOf` is the share of each payout in the cost of a batch', async () => {
  const { sender } = await world()
  const payouts = some(4)
  const signed = await signAll(sender, payouts)
  await network.deny(payouts[3]?.to as Hex, true)
  const { reference, gasUsed, effectiveGasPrice } = await send(sender, signed)
  const cost = BigInt(String(gasUsed)) * BigInt(String(effectiveGasPrice))
  expect(await sender.costOf?.(reference)).toBe(cost / 3n)
  const repeated = await send(sender, signed.slice(0, 1), 1)
  expect(await sender.costOf?.(repeated.reference)).toBeUndefined()
})

test('rejects a blocked payee with the token’s revert reason', async () => {
  const { sender } = await world()
  const payout = newPayout(4n)
  expect(await sender.rejectionReason(payout)).toBeUndefined()
  await network.deny(payout.to as Hex, true)
  expect(await sender.rejectionReason(payout)).toBe('Blacklistable: account is blacklisted')
})

test('a low or blocked treasury does not reject the payee', async () => {
  const { sender, account } = await world()
  expect(await sender.rejectionReason(newPayout(2_000_000_000n))).toBeUndefined()
  await network.deny(account.address, true)
  await expect(sender.rejectionReason(newPayout(1n))).rejects.toMatchObject({ kind: 'unavailable' })
})

test('rejects the zero address, the token, own addresses and invalid addresses as payee', async () => {
  const vault = newAccount().address
  const { sender, account } = await world({ ownAddresses: [vault] })
  for (const to of [zeroAddress, network.usdc, account.address, vault.toLowerCase(), '0x12', 'somebody'])
    expect(await sender.rejectionReason(newPayout(1n, to)), to).toEqual(expect.any(String))
  await expect(sender.sign(newPayout(1n, vault), 0)).rejects.toThrow('a payout does not go to an own address')
  await expect(sender.sign(newPayout(1n, account.address), 0)).rejects.toThrow('an own address')
})

test('a payout is not an incoming payment', async () => {
  const { sender, chain } = await world()
  const { reference } = await send(sender, await signAll(sender, some(2)))
  await network.mine(FINALITY)
  expect(verdict(await chain.findTransfer(question(reference)))).toBe('rejected: no_transfer')
})

test('returns the estimated cost, and the native coin of all gas accounts', async () => {
  const { sender } = await world()
  const { native, createsAccount } = await sender.estimateCost(newPayout(4n))
  expect(createsAccount).toBe(false)
  expect(native).toBeGreaterThan(160_000n)
  expect(await sender.nativeBalance()).toBe(2n * 10n ** 18n)
})

test('rejects signers of other accounts and signatures by another key', async () => {
  const { settings, account, gas } = await world()
  const [treasury, gasSigner] = [localEvmSigner(account.key), localEvmSigner(gas[0].key)]
  const stranger = localEvmSigner(newAccount().key)
  expect(() => evmPayoutSender(settings, stranger, [gasSigner])).toThrow('is not the treasury')
  const wrong = evmPayoutSender(settings, { ...stranger, address: account.address }, [gasSigner])
  await expect(wrong.sign(newPayout(1n), 0)).rejects.toThrow('the signature is from the signer’s key')
  const sender = evmPayoutSender(settings, treasury, [gasSigner])
  const payouts = await signAll(sender, some(1))
  const other = { account: stranger.address, nonce: 0n, payouts, outbid: undefined }
  await expect(batchesOf(sender).sign(other)).rejects.toThrow('is not a gas account')
})

test('many payouts share the reading of the times of the blocks', async () => {
  const { account, gas } = await world()
  const { relayTo } = await import('./node-relay.ts')
  const relay = await relayTo(network.url)
  try {
    const settings = settingsFor(network, account.address, {
      rpcUrls: [relay.url],
      recentMs: 3_600_000,
    })
    const sender = evmPayoutSender(settings, localEvmSigner(account.key), [localEvmSigner(gas[0].key)])
    await signAll(sender, some(1))
    const asked = relay.requests()
    const signed = await signAll(sender, some(5))
    for (const one of signed) expect(await sender.observe([one])).toEqual({ kind: 'unknown' })
    expect(relay.requests()).toBe(asked)
  } finally {
    await relay.stop()
  }
})
