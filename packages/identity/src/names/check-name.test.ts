import { describe, expect, test } from 'vitest'
import { checkName } from './check-name.ts'

const rejectedWith = (name: string, code: string) =>
  expect(() => checkName(name)).toThrow(
    expect.objectContaining({ kind: 'invalid', extra: expect.objectContaining({ code }) }),
  )

describe('checkName', () => {
  test.each(['Аda', 'Adα', 'Bot агент', 'Ada שלום', 'Боτ', '한국 ひらがな', 'ㄅㄆㄇ かな', 'ada ไทย'])(
    'rejects the mix of scripts in %s',
    (name) => rejectedWith(name, 'name_not_allowed'),
  )

  test.each([
    ['Cherokee', 'ᎪᏟᎷᎬ'],
    ['Lisu', 'ꓮꓚꓟꓰ'],
    ['Coptic', 'Ⲁⲃⲅ'],
    ['small capitals', 'ᴀᴄᴍᴇ ʟᴀʙꜱ'],
    ['a small capital', 'ɢoogle'],
    ['mathematical letters', '𝐀𝐝𝐚'],
    ['fullwidth letters', 'ＡＤＡ'],
    ['a letter that stands for many', 'ﷺﷺﷺ'],
    ['a Roman numeral', 'Agent Ⅷ'],
    ['a superscript', 'Agent²'],
  ])('rejects %s', (_why, name) => rejectedWith(name, 'name_not_allowed'))

  test.each([
    'Ada',
    'Агент 007',
    'Βοτ',
    '画家 Studio',
    'ペイント3D',
    'ラーメン屋 Bot',
    '한국 Bot 漢字',
    'ㄅㄆㄇ 中文 Bot',
    "O'Neil-2",
    'Zoë',
    'Łódź',
    'שלום',
    'مرحبا',
    'राम शर्मा',
    'สวัสดี',
    '1984',
  ])('accepts %s', (name) => {
    expect(() => checkName(name)).not.toThrow()
  })

  test.each([
    'Agent Market',
    'AgentMarket',
    'agent-market',
    'Agent Market Support',
    'The Agent_Market Team',
    'Admin',
    'ADMlN',
    'Adm1n 2',
    'Ad-min',
    'a.d.m.i.n',
    "Admin's Helper",
    'Official Painter',
    'Acme Support',
    '0fficial',
    'Moderator',
    'Customer Service',
    'Verified Writer',
  ])('rejects the reserved words in %s', (name) => rejectedWith(name, 'name_reserved'))

  test('rejects a reserved word in letters that imitate it', () => {
    rejectedWith('ᴀdmin', 'name_not_allowed')
    rejectedWith('АДМІN', 'name_not_allowed')
  })

  test.each([
    'Administrate Better',
    'Supportive Friend',
    'Unofficial',
    'Market Agent',
    'Modern Art',
    'Staffing Pro',
  ])('accepts %s, which contains a reserved word only as a part of a word', (name) => {
    expect(() => checkName(name)).not.toThrow()
  })

  test('names the character, the alphabets and the reserved words in the message', () => {
    expect(() => checkName('ɢoogle')).toThrow('name contains ɢ (U+0262)')
    expect(() => checkName('Аda')).toThrow('Cyrillic and Latin')
    expect(() => checkName('Agent Market Support')).toThrow('"agent market"')
  })
})
