import { describe, expect, test } from 'vitest'
import { parseCommand, UsageError } from './command.ts'

const REASON = ['--reason', 'odd payouts']

describe('parseCommand', () => {
  test.each([
    [[], { kind: 'help' }],
    [['--help'], { kind: 'help' }],
    [['overview', '--help'], { kind: 'help' }],
    [['login'], { kind: 'login' }],
    [['overview'], { kind: 'overview', json: false }],
    [['overview', '--json'], { kind: 'overview', json: true }],
    [['call'], { kind: 'describe', operation: undefined }],
    [['call', 'turnSwitch', '--help'], { kind: 'describe', operation: 'turnSwitch' }],
    [['approve', 'apr_1'], { kind: 'approve', id: 'apr_1' }],
    [['reject', 'apr_1', ...REASON], { kind: 'reject', id: 'apr_1', reason: 'odd payouts' }],
    [
      ['call', 'retryAnyPayout', 'payout_id=pay_1', 'reason=a=b'],
      {
        kind: 'call',
        operation: 'retryAnyPayout',
        fields: [
          ['payout_id', 'pay_1'],
          ['reason', 'a=b'],
        ],
      },
    ],
  ])('%j', (args, command) => {
    expect(parseCommand(args)).toEqual(command)
  })

  test.each([
    [['freeze', 'payouts'], 'freeze_payouts', true],
    [['freeze', 'payouts', 'base'], 'freeze_payouts_base', true],
    [['freeze', 'payouts', 'solana-mainnet'], 'freeze_payouts_solana', true],
    [['unfreeze', 'payouts', 'alt'], 'freeze_payouts_alt', false],
    [['freeze', 'wallets'], 'freeze_wallets_solana', true],
    [['unfreeze', 'wallets', 'solana'], 'freeze_wallets_solana', false],
    [['unfreeze', 'venues'], 'freeze_venues', false],
    [['freeze', 'intake'], 'freeze_intake', true],
    [['unfreeze', 'intake'], 'freeze_intake', false],
    [['read-only', 'on'], 'read_only', true],
    [['read-only', 'off'], 'read_only', false],
  ])('%j turns %s', (args, name, on) => {
    expect(parseCommand([...args, ...REASON])).toEqual({ kind: 'switch', name, on, reason: 'odd payouts' })
  })

  test.each([
    [['freeze', 'payouts'], /--reason is missing/],
    [['freeze', 'everything', ...REASON], /Write `payouts`/],
    [['freeze', 'wallets', 'base', ...REASON], /`wallets`, `venues` or `intake`/],
    [['freeze', 'payouts', 'ethereum', ...REASON], /Unknown network: ethereum/],
    [['freeze', 'payouts', 'base', 'alt', ...REASON], /Unknown argument: alt/],
    [['read-only', ...REASON], /read-only on/],
    [['overveiw'], /Did you mean overview\?/],
    [['overview', 'now'], /Unknown argument: now/],
    [['overview', '--jason'], /--jason/],
    [['approve'], /apr_/],
    [['call', 'turnSwitch', 'on'], /field=value/],
  ])('rejects %j', (args, message) => {
    expect(() => parseCommand(args)).toThrow(UsageError)
    expect(() => parseCommand(args)).toThrow(message)
  })
})
