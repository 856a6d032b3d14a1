import { usdc } from '@market/kernel/money'
import { startEvmNetwork } from '@market/testing/evm-network'
import { type Hex, parseTransaction, toHex } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, newAccount } from './evm-world.ts'
import { depositInto, run, startVenue, USDC } from './venue-world.ts'

const network = await startEvmNetwork({ chainId: 8453 })
afterAll(() => network.stop())
beforeEach(async () => {
  await network.automine(true)
  await network.mine(1)
})

const gasOf = (bytes: string) => parseTransaction(bytes as Hex).gas

test('observe: a step is unknown, then seen, then final, and the nonce is that of the wallet', async () => {
  const { venue } = await startVenue(network, 'lending')
  expect((await venue.counts(venue.wallet)).mined).toBe(0n)
  const signed = await venue.sign({ step: 'approve', amount: usdc(USDC), actionId: 'emv_1:approve' }, 0n, [])
  expect(await venue.observe([signed])).toEqual({ kind: 'unknown' })
  await venue.send(signed)
  await venue.send(signed)
  await network.included(signed.reference as Hex)
  expect(await venue.observe([signed])).toEqual({ kind: 'seen', reference: signed.reference })
  expect((await venue.counts(venue.wallet)).mined).toBe(1n)
  await network.mine(FINALITY)
  expect(await venue.observe([signed])).toEqual({
    kind: 'final',
    reference: signed.reference,
    cost: expect.any(BigInt),
  })
})

test('sign: a replacement at the same nonce raises both fees, and only one is executed', async () => {
  const { venue, wallet } = await startVenue(network, 'lending')
  await network.automine(false)
  const call = { step: 'return', amount: usdc(5n * USDC), actionId: 'emv_1:return' } as const
  const stuck = await venue.sign(call, 0n, [])
  await venue.send(stuck)
  await network.rpc('anvil_setNextBlockBaseFeePerGas', [toHex((stuck.maxFeePerGas ?? 0n) * 3n)])
  await network.mine(1)
  const replacement = await venue.sign(call, 0n, [stuck])
  for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const)
    expect((replacement[fee] ?? 0n) * 1_000n).toBeGreaterThanOrEqual((stuck[fee] ?? 0n) * 1_125n)
  await venue.send(replacement)
  await network.mine(FINALITY + 1)
  expect(await venue.observe([stuck, replacement])).toMatchObject({
    kind: 'final',
    reference: replacement.reference,
  })
  expect(await network.balanceOf(wallet.address)).toBe(995n * USDC)
})

test('sign: a call that would revert gets a generous gas limit, and fails visibly', async () => {
  const { venue } = await startVenue(network, 'lending')
  const signed = await venue.sign(
    { step: 'deposit', amount: usdc(10n * USDC), actionId: 'emv_1:deposit' },
    0n,
    [],
  )
  expect(gasOf(signed.bytes)).toBe(3_000_000n)
  await venue.send(signed)
  await network.included(signed.reference as Hex)
  await network.mine(FINALITY)
  expect(await venue.observe([signed])).toMatchObject({ kind: 'failed', reference: signed.reference })
  await expect(venue.receiptOf(signed.reference)).rejects.toThrow('failed on the chain')
})

test('sign: a deposit of an approved amount gets an estimate with a margin', async () => {
  const world = await startVenue(network, 'lending')
  await run(world, 'approve', 10n * USDC)
  const signed = await world.venue.sign(
    { step: 'deposit', amount: usdc(10n * USDC), actionId: 'emv_1:deposit' },
    1n,
    [],
  )
  expect(gasOf(signed.bytes)).toBeGreaterThan(100_000n)
  expect(gasOf(signed.bytes)).toBeLessThan(400_000n)
})

test('observe: a step that a reorganization removed is unknown again, and can be sent again', async () => {
  const world = await startVenue(network, 'lending')
  const { venue, vault, wallet } = world
  await run(world, 'approve', 10n * USDC)
  await network.mine(1)
  const signed = await venue.sign(
    { step: 'deposit', amount: usdc(10n * USDC), actionId: 'emv_1:deposit' },
    1n,
    [],
  )
  await venue.send(signed)
  await network.included(signed.reference as Hex)
  expect(await venue.observe([signed])).toMatchObject({ kind: 'seen' })
  await network.reorg(1)
  expect(await venue.observe([signed])).toEqual({ kind: 'unknown' })
  await expect(venue.receiptOf(signed.reference)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await vault.sharesOf(wallet.address)).toBe(0n)

  await venue.send(signed)
  await network.included(signed.reference as Hex)
  // In another block the vault might give another number of shares.
  await expect(venue.receiptOf(signed.reference)).rejects.toMatchObject({ kind: 'unavailable' })
  await network.mine(FINALITY)
  expect(await venue.receiptOf(signed.reference)).toMatchObject({ assets: 10n * USDC })
})

test('receiptOf: rejects the receipt of a vault that paid less than its event says', async () => {
  const world = await startVenue(network, 'lying')
  const { venue, vault, treasury } = world
  await depositInto(world, 100n * USDC)
  await vault.lie(100n)
  const reference = await run(world, 'redeem', (await vault.sharesOf(world.wallet.address)) / 2n)
  expect(await network.balanceOf(treasury.address)).toBe(49_500_000n)
  await expect(venue.receiptOf(reference)).rejects.toThrow(
    `reports 50000000 micro-USDC in ${reference}, but 49500000 were transferred`,
  )
  const { arrived, shares } = await venue.movedBy(reference)
  expect([arrived, shares]).toEqual([49_500_000n, -(await vault.sharesOf(world.wallet.address))])
})

test('receiptOf: rejects transactions of others, of other vaults and without an event of the vault', async () => {
  const world = await startVenue(network, 'lending')
  const { venue, vault } = world
  await vault.depositByOther(10n * USDC)
  const approval = await run(world, 'approve', 10n * USDC)
  const noEvent = 'has no event of the vault'
  await expect(venue.receiptOf(approval)).rejects.toThrow(noEvent)

  const other = await startVenue(network, 'lending')
  await run(other, 'approve', 10n * USDC)
  await expect(venue.receiptOf(await run(other, 'deposit', 10n * USDC))).rejects.toThrow(noEvent)

  const unknown = `0x${'0'.repeat(64)}`
  await expect(venue.receiptOf(unknown)).rejects.toMatchObject({ kind: 'unavailable' })
})

test('receiptOf: a deposit that somebody else makes for the wallet is not one of ours', async () => {
  const { venue, wallet, vault } = await startVenue(network, 'lending')
  const deposit = await vault.depositByOther(10n * USDC, wallet.address)
  await network.mine(FINALITY)
  expect(await vault.sharesOf(wallet.address)).toBeGreaterThan(0n)
  await expect(venue.receiptOf(deposit)).rejects.toThrow('has no event of the vault')
})

test('read: a vault of another token is not readable', async () => {
  const { venue } = await startVenue(network, 'lending', { usdc: newAccount().address })
  await expect(venue.read(0n)).rejects.toMatchObject({ kind: 'unavailable' })
})
