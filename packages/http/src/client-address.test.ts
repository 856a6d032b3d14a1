import { expect, test } from 'vitest'
import { clientAddress } from './client-address.ts'

const behindProxy = (forwardedFor: string) => clientAddress(['10.0.0.1'])('10.0.0.1', forwardedFor)

test.each([
  ['203.0.113.7:4711', '203.0.113.7'],
  ['203.0.113.7', '203.0.113.7'],
  ['[2001:db8:1:2::7]:4711', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::7]', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::7', '2001:db8:1:2::/64'],
  ['[::ffff:203.0.113.7]:4711', '203.0.113.7'],
])('client address: X-Forwarded-For %s is the client %s', (forwardedFor, address) => {
  expect(behindProxy(forwardedFor)).toBe(address)
})

test.each(['unknown', '_hidden:99', '203.0.113.7:port', '[203.0.113.7', ''])(
  'client address: an X-Forwarded-For entry that is not an address counts as the proxy: %j',
  (forwardedFor) => {
    expect(behindProxy(forwardedFor)).toBe('10.0.0.1')
  },
)
