import { expect, test } from 'vitest'
import { networksOf } from './networks.ts'

test('networksOf: the /56 keeps the upper byte of the fourth group, the /48 keeps three groups', () => {
  expect(networksOf('2001:db8:1:abcd::/64')).toEqual([
    { kind: 'address', subject: '2001:db8:1:abcd::/64' },
    { kind: 56, subject: '2001:db8:1:ab00::/56' },
    { kind: 48, subject: '2001:db8:1::/48' },
  ])
  expect(networksOf('2001:db8:0:7::/64')[1]?.subject).toBe('2001:db8:0:0::/56')
})

test('networksOf: an IPv4 client has only its address', () => {
  expect(networksOf('192.0.2.1')).toEqual([{ kind: 'address', subject: '192.0.2.1' }])
})
