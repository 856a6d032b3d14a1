import { AccountRole, address, type Instruction } from '@solana/kit'
import { expect, test } from 'vitest'
import {
  initializeMetadata,
  initializeMetadataPointer,
  initializeNonTransferable,
  mintBytesWithMetadata,
  removeMetadataAuthority,
  TOKEN_2022_PROGRAM_ADDRESS,
  tokenAccountBytes,
} from './token-2022.ts'

const MINT = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')
const MINT_HEX = 'c6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61'
const WALLET = address('9tHaYUaSWiccEbhDzXnHR2Dcxz1h7iDwqZSQPqoAGGVL')
const NO_ADDRESS = '00'.repeat(32)

const encoded = ({ programAddress, accounts, data }: Instruction) => ({
  programAddress,
  accounts: accounts?.map((account) => [account.address, account.role]),
  data: Buffer.from(data ?? []).toString('hex'),
})
const instruction = (data: string, ...accounts: [string, AccountRole][]) => ({
  programAddress: TOKEN_2022_PROGRAM_ADDRESS,
  accounts,
  data,
})

test('the instructions have the bytes and accounts that @solana-program/token-2022 0.6.1 produces', () => {
  expect(encoded(initializeMetadataPointer(MINT))).toEqual(
    instruction(`2700${NO_ADDRESS}${MINT_HEX}`, [MINT, AccountRole.WRITABLE]),
  )
  expect(encoded(initializeNonTransferable(MINT))).toEqual(instruction('20', [MINT, AccountRole.WRITABLE]))
  const token = { name: 'Ünï', symbol: 'PX', uri: 'https://x.example/1' }
  expect(encoded(initializeMetadata(MINT, WALLET, token))).toEqual(
    instruction(
      'd2e11ea258b84d8d05000000c39c6ec3af0200000050581300000068747470733a2f2f782e6578616d706c652f31',
      [MINT, AccountRole.WRITABLE],
      [WALLET, AccountRole.READONLY],
      [MINT, AccountRole.READONLY],
      [WALLET, AccountRole.READONLY_SIGNER],
    ),
  )
  expect(encoded(removeMetadataAuthority(MINT, WALLET))).toEqual(
    instruction(
      `d7e4a6e45464567b${NO_ADDRESS}`,
      [MINT, AccountRole.WRITABLE],
      [WALLET, AccountRole.READONLY_SIGNER],
    ),
  )
})

test('the size of a mint grows with the UTF-8 bytes of its metadata', () => {
  const kind = { isTransferable: true }
  const size = mintBytesWithMetadata(kind, { name: 'Un', symbol: 'P', uri: '' })
  expect(mintBytesWithMetadata(kind, { name: 'Ün', symbol: 'P', uri: '' })).toBe(size + 1)
  expect(mintBytesWithMetadata({ isTransferable: false }, { name: 'Un', symbol: 'P', uri: '' })).toBe(
    size + 4,
  )
  expect([tokenAccountBytes(kind), tokenAccountBytes({ isTransferable: false })]).toEqual([170, 174])
})
