import { expect, test } from 'vitest'
import { parseSearch } from './search-terms.ts'

test.each([
  ['logo bakery', 'logo bakery', []],
  ['logo -posters', 'logo', ['posters']],
  ['-posters logo', 'logo', ['posters']],
  ['-posters', '', ['posters']],
  ['"two colours" -"large letters" logo', '"two colours" logo', ['"large letters"']],
  ['"a -b" c', '"a -b" c', []],
  ['"a b"-c', '"a b"', ['c']],
  ['black-and-white', 'black-and-white', []],
  ['-black-and-white', '', ['black-and-white']],
  ['logo - posters', 'logo', ['posters']],
  ['--posters', '', ['posters']],
  ['logo -', 'logo', []],
  ['- " ! &', '', []],
  ['"not closed -x', '"not closed -x', []],
  ['café -größe', 'café', ['größe']],
])('parseSearch: %s', (search, required, excluded) => {
  expect(parseSearch(search)).toEqual({ required, excluded })
})
