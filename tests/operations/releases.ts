import { read } from './alerts.ts'

export interface Release {
  readonly name: string
  readonly commit: string
  readonly migration: string
}

export const releases = (): Release[] =>
  read('deploy/releases')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', commit = '', migration = ''] = line.split(' ')
      return { name, commit, migration }
    })
