import { crc32 } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Turns of a player: endless. */
const ENDLESS = 0;

type Chunk = { type: string; data: Buffer };

/** Returns the chunks of a PNG. */
function chunksOf(image: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE.length; at < image.length; ) {
    const length = image.readUInt32BE(at);
    chunks.push({
      type: image.toString('latin1', at + 4, at + 8),
      data: image.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return chunks;
}

function written({ type, data }: Chunk): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([frame.subarray(0, 4), content, frame.subarray(4)]);
}

/**
 * Returns an animated PNG (https://www.w3.org/TR/png-3/#apng-frame-based-animation) of PNGs of one size and color type.
 * A program that does not animate shows the first.
 */
export function animationOf(frames: readonly { image: Buffer; seconds: number }[]): Buffer {
  const [first] = frames;
  if (!first) throw new Error('an animation needs a frame');
  const header = chunksOf(first.image).find(({ type }) => type === 'IHDR');
  if (!header) throw new Error('the first frame is no PNG');
  const control = Buffer.alloc(8);
  control.writeUInt32BE(frames.length, 0);
  control.writeUInt32BE(ENDLESS, 4);
  let sequence = 0;
  const numbered = (data: Buffer): Buffer => {
    const number = Buffer.alloc(4);
    number.writeUInt32BE(sequence++);
    return Buffer.concat([number, data]);
  };
  const chunks: Chunk[] = [header, { type: 'acTL', data: control }];
  for (const [nth, { image, seconds }] of frames.entries()) {
    const parts = chunksOf(image);
    const own = parts.find(({ type }) => type === 'IHDR');
    if (!own?.data.equals(header.data)) throw new Error(`frame ${nth} has another size or color type`);
    // Width and height, no offset, the delay as a fraction, replaced by the next frame as a whole.
    const place = Buffer.alloc(22);
    header.data.copy(place, 0, 0, 8);
    place.writeUInt16BE(Math.round(seconds * 100), 16);
    place.writeUInt16BE(100, 18);
    chunks.push({ type: 'fcTL', data: numbered(place) });
    for (const { type, data } of parts) {
      if (type !== 'IDAT') continue;
      chunks.push(nth === 0 ? { type, data } : { type: 'fdAT', data: numbered(data) });
    }
  }
  return Buffer.concat([SIGNATURE, ...[...chunks, { type: 'IEND', data: Buffer.alloc(0) }].map(written)]);
}
