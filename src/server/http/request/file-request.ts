import type { ReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { FileUpload, Upload as FileVariable } from 'graphql-upload-minimal';
import type { UploadedFile } from '../../../engine/values/uploaded-file.ts';
import { fileError } from './file-error.ts';
import { type HeldFile, type MemoryBound, ignore } from './held-file.ts';
import { shareFile } from './shared-file.ts';

/** What a file needs of the request that it is part of. */
interface FileSource {
  /** The file, once it has begun to arrive. */
  fileOf: () => HeldFile | undefined;
  /** Called when an operation waits for the file. */
  onNeed: () => void;
  bound: MemoryBound;
}

/** A file in the variables of an operation. It is no Promise, because the request must know whether anybody waits for it. */
export class FileRequest implements UploadedFile {
  readonly name: string;
  /** An operation waits for the file, or has received it. */
  isNeeded = false;
  private readonly source: FileSource;
  private readonly places: number;
  private readonly file: Promise<FileUpload>;

  constructor(name: string, variable: FileVariable, places: number, source: FileSource) {
    this.name = name;
    this.places = places;
    this.source = source;
    this.file = variable.promise.then(
      (file) => this.opened(file),
      (error: unknown) => {
        throw fileError(error, name);
      },
    );
    this.file.catch(ignore); // the resolver that uses the file gets the error
  }

  then<Value = FileUpload, Other = never>(
    onFile?: ((file: FileUpload) => Value | PromiseLike<Value>) | null,
    onError?: ((error: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Value | Other> {
    if (!this.isNeeded) {
      this.isNeeded = true;
      this.source.onNeed();
    }
    return this.file.then(onFile, onError);
  }

  discard(): void {
    if (this.places > 1) return; // another reader may need it
    const discardFile = (file: FileUpload) => {
      if (!this.source.fileOf()?.isOpen) file.createReadStream().on('error', ignore).resume();
    };
    this.file.then(discardFile).catch(ignore); // if it does not arrive, there is nothing to discard
  }

  /** The file as resolvers open it; its stream ends only when what follows the file is valid. */
  private opened(file: FileUpload): FileUpload {
    const open = (): Readable => {
      try {
        file.createReadStream(); // throws if the file is open already
      } catch (error) {
        throw fileError(error, this.name);
      }
      return this.source.fileOf()!.open();
    };
    const opening = this.places > 1 ? shareFile(open, this.source.bound) : open;
    return { ...file, createReadStream: () => opening() as ReadStream };
  }
}
