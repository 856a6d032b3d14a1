import { fetchTransaction, readUsdcChange } from '@market/chains/solana/read-transfer'
import { solanaChain } from '@market/chains/solana/solana-chain'
import type { Observation, TransferQuery } from '@market/core/ports/chain'
import { assert } from '@market/kernel/assert'
import { usdc as micros } from '@market/kernel/money'
import { installSolanaUsdc } from '@market/testing/solana-usdc'
import {
  AccountRole,
  type Address,
  address,
  generateKeyPairSigner,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getCreateAccountInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import {
  AuthorityType,
  getApproveInstruction,
  getBatchInstruction,
  getInitializeAccount3Instruction,
  getRecoverNestedAssociatedTokenInstruction,
  getSetAuthorityInstruction,
  getTokenSize,
  getTransferCheckedInstruction,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

const HOUR_MS = 3_600_000
const LOOKUP_TABLES = address('AddressLookupTab1e1111111111111111111111111')

let world: SolanaWorld
let payer: KeyPairSigner
let other: KeyPairSigner
let mint: Address
let treasuryAccount: Address

beforeAll(async () => {
  world = await startSolanaWorld()
  payer = await world.wallet(1_000_000_000n)
  other = await world.wallet(1_000_000_000n)
  mint = address(world.usdc.mint)
  treasuryAccount = address(await world.usdc.accountOf(world.treasury.address))
})
afterAll(() => world.stop())

const ask = (
  reference: string,
  question: Partial<TransferQuery> = {},
  settings: Partial<SolanaWorld['settings']> = {},
): Promise<Observation> =>
  solanaChain({ ...world.settings, ...settings }).findTransfer({
    reference,
    minAmount: micros(1n),
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + HOUR_MS),
    ...question,
  })

const pay = (amount: bigint, from = payer) => world.transfer(from, world.treasury.address, amount)

/** The first payer creates the treasury's account. */
const paid = async (amount: bigint, from = payer) =>
  world.run(from, [await world.openAccount(from, world.treasury.address), await pay(amount, from)])

const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** Creates a lookup table with these addresses, encoded without a library. */
const openLookupTable = async (authority: KeyPairSigner, addresses: readonly Address[]): Promise<Address> => {
  const slot = await world.rpc.getSlot({ commitment: 'finalized' }).send()
  const encoder = getAddressEncoder()
  const [table, bump] = await getProgramDerivedAddress({
    programAddress: LOOKUP_TABLES,
    seeds: [encoder.encode(authority.address), u64(slot)],
  })
  const accounts = [
    { address: table, role: AccountRole.WRITABLE },
    { address: authority.address, role: AccountRole.READONLY_SIGNER, signer: authority },
    { address: authority.address, role: AccountRole.WRITABLE_SIGNER, signer: authority },
    { address: SYSTEM_PROGRAM_ADDRESS, role: AccountRole.READONLY },
  ]
  const create = Buffer.concat([Buffer.from([0, 0, 0, 0]), u64(slot), Buffer.from([bump])])
  const count = u64(BigInt(addresses.length))
  const extend = Buffer.concat([
    Buffer.from([2, 0, 0, 0]),
    count,
    ...addresses.map((one) => Uint8Array.from(encoder.encode(one))),
  ])
  const instruction = (data: Uint8Array): Instruction => ({ programAddress: LOOKUP_TABLES, accounts, data })
  const signature = await world.run(authority, [instruction(create), instruction(extend)])
  // A table can be used from the next slot.
  await world.settled(signature, 'finalized')
  return table
}

describe('not yet a payment', () => {
  test.each([
    ['a word', 'abc'],
    ['an EVM hash', `0x${'ab'.repeat(32)}`],
    ['base58 that is too short for 64 bytes', '2'.repeat(64)],
    ['nothing', ''],
  ])('%s is not a reference', async (_name, reference) => {
    expect(await ask(reference)).toEqual({ kind: 'rejected', reason: 'bad_reference' })
  })

  test('an unknown signature is pending', async () => {
    const unknown = '5'.repeat(87)
    expect(await ask(unknown)).toEqual({ kind: 'pending', reason: 'unknown' })
  })

  test('a payment that was just sent is pending or found, never rejected', async () => {
    const reference = await world.send(payer, [
      await world.openAccount(payer, world.treasury.address),
      await pay(1_000n),
    ])
    const looks: Observation[] = []
    do looks.push(await ask(reference))
    while (looks.at(-1)?.kind === 'pending')
    expect(looks.at(-1)).toMatchObject({ kind: 'ok', transfer: { amount: 1_000n } })
  })
})

describe('accepted payments', () => {
  test('returns amount, payer, time and block of a transfer', async () => {
    const reference = await paid(11_000_000n)
    const observation = await ask(reference, { minAmount: micros(11_000_000n), payers: [payer.address] })
    expect(observation).toMatchObject({
      kind: 'ok',
      transfer: { reference, amount: 11_000_000n, payer: payer.address },
    })
    assert(observation.kind === 'ok', 'the transfer is found')
    expect(Math.abs(observation.transfer.at.getTime() - Date.now())).toBeLessThan(60_000)
    const block = await world.rpc
      .getBlock(observation.transfer.block.height, { rewards: false, transactionDetails: 'signatures' })
      .send()
    expect(block?.blockhash).toBe(observation.transfer.block.hash)
    expect(block?.signatures).toContain(reference)
  })

  test('counts a transfer that also creates the treasury account', async () => {
    const fresh = await generateKeyPairSigner()
    const reference = await world.run(payer, [
      await world.openAccount(payer, fresh.address),
      await world.transfer(payer, fresh.address, 7_000_000n),
    ])
    expect(await ask(reference, {}, { treasury: fresh.address })).toMatchObject({
      kind: 'ok',
      transfer: { amount: 7_000_000n, payer: payer.address },
    })
  })

  test('a large payment needs finality, a small one does not', async () => {
    const commitment = (amount: bigint) => (amount >= 5_000_000n ? 'finalized' : 'confirmed')
    const [small, large] = [await paid(4_999_999n), await paid(5_000_000n)]
    await world.settled(large, 'finalized')
    expect(await ask(large, {}, { commitment })).toMatchObject({ kind: 'ok', transfer: { final: true } })

    // The same chain on a node without finality of this block.
    const behind = await startSolanaRelay(world.chain.url)
    behind.manner = async (call, answer) => {
      const text = JSON.stringify(await answer())
      return JSON.parse(
        call.method === 'getSignatureStatuses' ? text.replace('finalized', 'confirmed') : text,
      )
    }
    const settings = { commitment, rpcUrls: [behind.url] }
    expect(await ask(small, {}, settings)).toMatchObject({ kind: 'ok', transfer: { final: false } })
    expect(await ask(large, {}, settings)).toEqual({ kind: 'pending', reason: 'unconfirmed' })
    await behind.stop()
  })

  test('three transfers in a legacy transaction with a memo are summed', async () => {
    const source = address(await world.usdc.accountOf(payer.address))
    const reference = await world.run(
      payer,
      [
        await pay(2_000_000n),
        await pay(3_000_000n),
        getTransferInstruction({
          source,
          destination: treasuryAccount,
          authority: payer,
          amount: 4_000_000n,
        }),
        getAddMemoInstruction({ memo: 'ord_123' }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 }),
      ],
      { legacy: true },
    )
    expect(await ask(reference)).toMatchObject({ kind: 'ok', transfer: { amount: 9_000_000n } })
  })

  test('returns the whole amount of a payment above the price', async () => {
    const reference = await paid(3_000_000n)
    expect(await ask(reference, { minAmount: micros(1_000_000n) })).toMatchObject({
      kind: 'ok',
      transfer: { amount: 3_000_000n },
    })
  })

  test('finds a payment whose accounts are in a lookup table', async () => {
    const source = address(await world.usdc.accountOf(payer.address))
    const inTable = [source, treasuryAccount, mint]
    const table = await openLookupTable(payer, inTable)
    const reference = await world.run(payer, [await pay(6_000_000n)], { tables: { [table]: inTable } })
    const transaction = await fetchTransaction(world.rpc, reference)
    expect(transaction?.transaction.message.accountKeys).not.toContain(treasuryAccount)
    expect(await ask(reference, { payers: [payer.address] })).toMatchObject({
      kind: 'ok',
      transfer: { amount: 6_000_000n },
    })
  })

  test('finds two transfers in one batch instruction', async () => {
    const batch = getBatchInstruction([await pay(1_000_000n), await pay(1_500_000n)])
    const reference = await world.run(payer, [batch])
    expect(await ask(reference, { payers: [payer.address] })).toMatchObject({
      kind: 'ok',
      transfer: { amount: 2_500_000n },
    })
  })

  test('finds a transfer that is an inner call of another program', async () => {
    const wallet = await world.wallet(1n)
    const outer = address(await world.usdc.accountOf(wallet.address))
    const nested = address(await world.usdc.accountOf(outer))
    await world.run(payer, [
      await world.openAccount(payer, outer),
      await world.transfer(payer, outer, 8_000_000n),
    ])
    const reference = await world.run(wallet, [
      getRecoverNestedAssociatedTokenInstruction({
        nestedAssociatedAccountAddress: nested,
        nestedTokenMintAddress: mint,
        destinationAssociatedAccountAddress: outer,
        ownerAssociatedAccountAddress: outer,
        ownerTokenMintAddress: mint,
        walletAddress: wallet,
      }),
    ])
    const transaction = await fetchTransaction(world.rpc, reference)
    if (transaction === null) throw new Error('the transaction is gone')
    const change = readUsdcChange(transaction, { account: outer, owner: wallet.address, mint })
    expect(change?.treasuryChange).toBe(8_000_000n)
  })

  test('the payer is the owner of the USDC when a relayer pays the fee', async () => {
    const reference = await world.run(other, [await pay(1_230_000n)])
    expect(await ask(reference, { payers: [payer.address] })).toMatchObject({
      kind: 'ok',
      transfer: { amount: 1_230_000n, payer: payer.address },
    })
  })

  test('accepts two wallets of one caller, and the payer is the one that paid more', async () => {
    const reference = await world.run(payer, [await pay(1_000_000n), await pay(2_000_000n, other)])
    expect(await ask(reference, { payers: [payer.address, other.address] })).toMatchObject({
      kind: 'ok',
      transfer: { amount: 3_000_000n, payer: other.address },
    })
  })

  test('a wallet of a program, which never signs, is the payer when the caller names it', async () => {
    const [vault] = await getProgramDerivedAddress({
      programAddress: SYSTEM_PROGRAM_ADDRESS,
      seeds: [getAddressEncoder().encode(payer.address)],
    })
    const agent = await world.wallet()
    await world.chain.call(
      'surfnet_setTokenAccount',
      vault,
      mint,
      { amount: 3_000_000, delegate: agent.address, delegatedAmount: 3_000_000 },
      TOKEN_PROGRAM_ADDRESS,
    )
    const source = address(await world.usdc.accountOf(vault))
    const reference = await world.run(agent, [
      getTransferCheckedInstruction({
        source,
        mint,
        destination: treasuryAccount,
        authority: agent,
        amount: 2_000_000n,
        decimals: 6,
      }),
    ])
    expect(await ask(reference, { payers: [vault] })).toMatchObject({
      kind: 'ok',
      transfer: { amount: 2_000_000n, payer: vault },
    })
    // Unnamed it may be a pool that swapped for the buyer.
    expect(await ask(reference)).toMatchObject({ kind: 'ok', transfer: { payer: null } })
    for (const claimed of [agent.address, payer.address])
      expect(await ask(reference, { payers: [claimed] })).toMatchObject({ reason: 'wrong_payer' })
  })

  test('the payer is null when a delegate pays', async () => {
    const delegate = await world.wallet()
    const source = address(await world.usdc.accountOf(payer.address))
    await world.run(payer, [
      getApproveInstruction({ source, delegate: delegate.address, owner: payer, amount: 900_000n }),
    ])
    const reference = await world.run(delegate, [
      getTransferCheckedInstruction({
        source,
        mint,
        destination: treasuryAccount,
        authority: delegate,
        amount: 900_000n,
        decimals: 6,
      }),
    ])
    expect(await ask(reference)).toMatchObject({ kind: 'ok', transfer: { amount: 900_000n, payer: null } })
    for (const claimed of [delegate.address, payer.address]) {
      expect(await ask(reference, { payers: [claimed] })).toMatchObject({ reason: 'wrong_payer' })
    }
  })
})

describe('rejected transfers', () => {
  test('rejects a smaller amount as underpaid and returns it', async () => {
    const reference = await paid(11_000_000n)
    expect(await ask(reference, { minAmount: micros(11_000_001n) })).toEqual({
      kind: 'rejected',
      reason: 'underpaid',
      detail: '11000000',
    })
  })

  test('rejects a payment by another wallet', async () => {
    const reference = await paid(1_000_000n)
    expect(await ask(reference, { payers: [other.address] })).toEqual({
      kind: 'rejected',
      reason: 'wrong_payer',
      detail: payer.address,
    })
  })

  test('rejects a relayer that only paid the fee as payer', async () => {
    const reference = await world.run(other, [await pay(1_000_000n)])
    expect(await ask(reference, { payers: [other.address] })).toMatchObject({ reason: 'wrong_payer' })
  })

  test('rejects one of two payers as ambiguous', async () => {
    const reference = await world.run(payer, [await pay(1_000_000n), await pay(2_000_000n, other)])
    for (const payers of [undefined, [payer.address], [other.address]]) {
      const observation = await ask(reference, payers === undefined ? {} : { payers })
      expect(observation).toMatchObject({ kind: 'rejected', reason: 'ambiguous_payer' })
    }
  })

  test('rejects a payment outside the time range as too old or too new', async () => {
    const reference = await paid(1_000_000n)
    const later = new Date(Date.now() + HOUR_MS)
    const earlier = new Date(Date.now() - HOUR_MS)
    expect(await ask(reference, { notBefore: later })).toMatchObject({ reason: 'too_old' })
    expect(await ask(reference, { notAfter: earlier })).toMatchObject({ reason: 'too_new' })
  })

  test('rejects another token', async () => {
    const fakeMint = await generateKeyPairSigner()
    const fake = await installSolanaUsdc(world.chain, world.issuer, { mint: fakeMint.address })
    await fake.fund(payer.address, 5_000_000n)
    await fake.fund(world.treasury.address, 0n)
    const reference = await world.run(payer, [
      getTransferCheckedInstruction({
        source: address(await fake.accountOf(payer.address)),
        mint: fakeMint.address,
        destination: address(await fake.accountOf(world.treasury.address)),
        authority: payer,
        amount: 5_000_000n,
        decimals: 6,
      }),
    ])
    expect(await ask(reference)).toEqual({ kind: 'rejected', reason: 'no_transfer' })
  })

  test('rejects USDC paid to another wallet', async () => {
    const reference = await world.run(payer, [await world.transfer(payer, other.address, 1_000_000n)])
    expect(await ask(reference)).toEqual({ kind: 'rejected', reason: 'no_transfer' })
  })

  test('rejects a failed transaction', async () => {
    const reference = await world.run(payer, [await pay(10n ** 15n)])
    expect(await ask(reference)).toEqual({ kind: 'rejected', reason: 'failed_on_chain' })
  })

  test('rejects the transfer of a funded account to the treasury', async () => {
    const account = await generateKeyPairSigner()
    const space = BigInt(getTokenSize())
    const lamports = await world.rpc.getMinimumBalanceForRentExemption(space).send()
    const source = address(await world.usdc.accountOf(payer.address))
    const reference = await world.run(payer, [
      getCreateAccountInstruction({
        payer,
        newAccount: account,
        lamports,
        space,
        programAddress: TOKEN_PROGRAM_ADDRESS,
      }),
      getInitializeAccount3Instruction({ account: account.address, mint, owner: payer.address }),
      getTransferCheckedInstruction({
        source,
        mint,
        destination: account.address,
        authority: payer,
        amount: 7_000_000n,
        decimals: 6,
      }),
      getSetAuthorityInstruction({
        owned: account.address,
        owner: payer,
        authorityType: AuthorityType.AccountOwner,
        newAuthority: world.treasury.address,
      }),
    ])
    expect(await ask(reference)).toEqual({ kind: 'rejected', reason: 'no_transfer' })
  })

  test('rejects a transfer that an own wallet signed or paid', async () => {
    const signedByTreasury = await world.run(world.treasury, [await pay(1_000_000n)])
    expect(await ask(signedByTreasury)).toEqual({ kind: 'rejected', reason: 'own_transfer' })
    const paidByOurs = await paid(1_000_000n, other)
    expect(await ask(paidByOurs)).toMatchObject({ kind: 'ok' })
    expect(await ask(paidByOurs, {}, { ownAddresses: [other.address] })).toMatchObject({
      reason: 'own_transfer',
    })
  })
})

test('returns the final and the latest balance, and 0 for a wallet without an account', async () => {
  const chain = solanaChain(world.settings)
  const rich = await world.wallet(12_340_000n)
  expect(await chain.balanceOf(rich.address)).toMatchObject({ final: 12_340_000n, latest: 12_340_000n })
  const empty = await generateKeyPairSigner()
  expect(await chain.balanceOf(empty.address)).toMatchObject({ final: 0n, latest: 0n })
})
