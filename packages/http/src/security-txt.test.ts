import { expect, test } from 'vitest'
import { securityTxt } from './security-txt.ts'

test('security.txt: has the required fields of RFC 9116, one per line', () => {
  const text = securityTxt('https://market.test', {
    contacts: ['mailto:security@market.test', 'https://market.test/report'],
    expires: new Date('2027-01-01T00:00:00Z'),
  })
  expect(text.split('\n')).toEqual([
    'Contact: mailto:security@market.test',
    'Contact: https://market.test/report',
    'Expires: 2027-01-01T00:00:00.000Z',
    'Preferred-Languages: en',
    'Canonical: https://market.test/.well-known/security.txt',
    '',
  ])
})
