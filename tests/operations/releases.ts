import { read } from './alerts.ts'

export interface Release {
  readonly name: string
  readonly commit: string
  readonly migration: string
}

export const releases = (): Release[] => releasesOf(read('deploy/releases'))

export const releasesOf = (text: string): Release[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', commit = '', migration = ''] = line.split(' ')
      return { name, commit, migration }
    })
