import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { evmChain } from '@market/chains/evm/evm-chain'
import { solanaChain } from '@market/chains/solana/solana-chain'
import type { Observation, TransferQuery } from '@market/core/ports/chain'
import { startEvmNetwork } from '@market/testing/evm-network'
import { USDC_ABI } from '@market/testing/evm-usdc'
import type { Instruction, KeyPairSigner } from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { type Address, encodeFunctionData, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, describe, expect, test } from 'vitest'
import {
  authorizedBy,
  CONFIRMATIONS,
  fundedPayer,
  newAccount,
  question,
  settingsFor,
  verdict,
} from '../chains/evm-world.ts'
import { startSolanaWorld } from '../chains/solana-support.ts'

const REFERENCE = randomBytes(32).toString('hex')
const attachedIn = (observation: Observation): string | null | undefined =>
  observation.kind === 'ok' ? observation.transfer.attachedData : undefined

describe('on an EVM chain', async () => {
  const network = await startEvmNetwork({ chainId: 8453 })
  afterAll(() => network.stop())
  const [treasury, gas] = [newAccount(), await fundedPayer(network)]
  const payer = await fundedPayer(network)
  const chain = evmChain(settingsFor(network, treasury.address, { gasAccounts: [gas.address] }))

  const transferCall = (amount: bigint, attached = ''): Hex =>
    `${encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [treasury.address, amount] })}${attached}`
  const paid = async (data: Hex, by: PrivateKeyAccount = payer, to: Address = network.usdc) => {
    const hash = await network.call(by, to, data)
    await network.mine(CONFIRMATIONS)
    return hash
  }
  const lookAt = (hash: string, changes: Partial<TransferQuery> = {}) =>
    chain.findTransfer(question(hash, changes))
  const sentByPayer = true

  test('returns the bytes after the arguments of a plain transfer', async () => {
    expect(attachedIn(await lookAt(await paid(transferCall(5n, REFERENCE))))).toBe(REFERENCE)
    expect(attachedIn(await lookAt(await paid(transferCall(5n, 'ab'))))).toBe('ab')
  })

  test('returns no reference for a transfer without extra bytes or with too many', async () => {
    expect(attachedIn(await lookAt(await paid(transferCall(5n))))).toBeNull()
    expect(attachedIn(await lookAt(await paid(transferCall(5n, 'ab'.repeat(256)))))).toBe('ab'.repeat(256))
    expect(attachedIn(await lookAt(await paid(transferCall(5n, 'ab'.repeat(257)))))).toBeNull()
  })

  test('ignores extra bytes of calls other than a plain transfer', async () => {
    const carried = `${await authorizedBy(network, payer, treasury.address, 7n)}${REFERENCE}` as const
    expect(attachedIn(await lookAt(await paid(carried)))).toBeNull()
    const batch = await network.callMany(network.usdc, [
      await authorizedBy(network, payer, treasury.address, 7n),
    ])
    await network.mine(CONFIRMATIONS)
    expect(attachedIn(await lookAt(batch))).toBeNull()
  })

  test('a transfer that the payer sent can be claimed, a relayed one cannot', async () => {
    expect(verdict(await lookAt(await paid(transferCall(5n)), { sentByPayer }))).toBe('ok')
    const carried = await paid(await authorizedBy(network, payer, treasury.address, 7n))
    expect(verdict(await lookAt(carried))).toBe('ok')
    expect(verdict(await lookAt(carried, { sentByPayer }))).toBe('rejected: sent_by_another')
    const ours = await paid(transferCall(5n), gas)
    expect(verdict(await lookAt(ours))).toBe('ok')
    expect(verdict(await lookAt(ours, { sentByPayer }))).toBe('rejected: sent_by_another')
  })
})

describe('on Solana', async () => {
  const world = await startSolanaWorld()
  afterAll(() => world.stop())
  await world.usdc.fund(world.treasury.address, 0n)
  const [payer, gas] = [await world.wallet(1_000_000n), await world.wallet()]
  const chain = solanaChain({ ...world.settings, gasAccounts: [gas.address] })
  const sentByPayer = true

  const memo = (text: string): Instruction =>
    getAddMemoInstruction({ memo: text }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })
  const paid = async (amount: bigint, memos: readonly string[], by: KeyPairSigner = payer) =>
    world.run(by, [await world.transfer(payer, world.treasury.address, amount), ...memos.map(memo)])
  const lookAt = async (reference: string, changes: Partial<TransferQuery> = {}): Promise<Observation> => {
    for (;;) {
      const observation = await chain.findTransfer(question(reference, changes))
      if (observation.kind !== 'pending') return observation
      await wait(20)
    }
  }

  test('returns the single memo when a transfer is looked up and when transfers are listed', async () => {
    const text = Buffer.from(REFERENCE, 'hex').toString('base64url')
    const attached = Buffer.from(text).toString('hex')
    const reference = await paid(5n, [text])
    expect(attachedIn(await lookAt(reference))).toBe(attached)
    await world.settled(reference, 'finalized')
    const { agreed } = await chain.finalMovementsAfter(await chain.startingBlock())
    expect(agreed?.incoming.find((one) => one.reference === reference)?.attachedData).toBe(attached)
  })

  test('returns no reference without a memo, with several memos or with a memo that is too long', async () => {
    expect(attachedIn(await lookAt(await paid(6n, [])))).toBeNull()
    expect(attachedIn(await lookAt(await paid(7n, ['one', 'two'])))).toBeNull()
    expect(attachedIn(await lookAt(await paid(8n, ['a'.repeat(257)])))).toBeNull()
  })

  test('a transfer whose fee we paid cannot be claimed, one whose fee another account paid can', async () => {
    const ours = await paid(9n, [], gas)
    expect(verdict(await lookAt(ours))).toBe('ok')
    expect(verdict(await lookAt(ours, { sentByPayer }))).toBe('rejected: sent_by_another')
    const relayed = await paid(10n, [], await world.wallet())
    expect(verdict(await lookAt(relayed, { sentByPayer }))).toBe('ok')
  })
})
