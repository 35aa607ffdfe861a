//! Reads a transformer from its tensors, by the names that BERT gives them.

use super::attention::Heads;
use super::functions::Norm;
use super::kernel::COLUMNS;
use super::linear::Linear;
use super::words::Words;
use super::{Layer, Transformer};
use crate::tensors::{Matrix, ModelError, Tensors};

const WORDS: &str = "embeddings.word_embeddings.weight";

/// Numbers that a head sees, unless the file says how many heads there are.
const HEAD_WIDTH: usize = 32;
/// Tokens of a text that are read, unless the file says otherwise.
const TOKENS: usize = 256;

/// Larger than any model that is worth running here.
const WIDTH_LIMIT: usize = 1024;
const WIDE_LIMIT: usize = 4096;
const LAYER_LIMIT: usize = 24;
const TOKEN_LIMIT: usize = 512;

/// Reads the model.
pub(super) fn read(tensors: &mut Tensors) -> Result<Transformer, ModelError> {
    let prefix = tensors.prefix_of(WORDS).unwrap_or_default().to_owned();
    let name = |rest: &str| format!("{prefix}{rest}");

    let matrix = tensors.matrix(&name(WORDS))?;
    let (vocabulary, width) = (matrix.rows(), matrix.columns());
    if width > WIDTH_LIMIT || !width.is_multiple_of(COLUMNS) {
        return Err(shape_of(&name(WORDS), &matrix));
    }
    let heads = heads(tensors, width)?;
    let words = Words::read(tensors, &matrix)?;
    let positions = positions(tensors, &name("embeddings"), width)?;
    let norm = norm(tensors, &name("embeddings.LayerNorm"), width)?;

    let mut layers = Vec::new();
    while tensors.has(&name(&format!("encoder.layer.{}.output.dense.weight", layers.len()))) {
        if layers.len() == LAYER_LIMIT {
            return Err(ModelError::OtherModel {
                what: "layers or more",
                found: LAYER_LIMIT + 1,
                expected: LAYER_LIMIT,
            });
        }
        let layer = layer(tensors, &name(&format!("encoder.layer.{}", layers.len())), width)?;
        layers.push(layer);
    }
    if layers.is_empty() {
        let tensor = name("encoder.layer.0.output.dense.weight");
        return Err(ModelError::Missing(tensor));
    }
    let projection = if tensors.has("projection.weight") {
        let matrix = sized(tensors, "projection.weight", None, width)?;
        if matrix.rows() > WIDTH_LIMIT {
            return Err(shape_of("projection.weight", &matrix));
        }
        let mut projection = Linear::new(width);
        projection.append(tensors, &matrix, None)?;
        Some(projection)
    } else {
        None
    };
    Ok(Transformer { words, vocabulary, positions, norm, heads, width, layers, projection })
}

fn heads(tensors: &Tensors, width: usize) -> Result<Heads, ModelError> {
    let said = tensors.metadata("heads").and_then(|heads| heads.parse().ok());
    let count = said.unwrap_or(width.div_ceil(HEAD_WIDTH));
    if count == 0 || !width.is_multiple_of(count) {
        return Err(ModelError::OtherModel {
            what: "heads",
            found: count,
            expected: width / HEAD_WIDTH,
        });
    }
    Ok(Heads { count, width: width / count })
}

/// Returns the vector that is added to a word at each position: its position, plus the type of the
/// first of two texts, which all are here.
fn positions(tensors: &mut Tensors, name: &str, width: usize) -> Result<Vec<f32>, ModelError> {
    let places = format!("{name}.position_embeddings.weight");
    let matrix = sized(tensors, &places, None, width)?;
    let said = tensors.metadata("max_tokens").and_then(|tokens| tokens.parse().ok());
    let tokens = said.unwrap_or(TOKENS).min(matrix.rows()).min(TOKEN_LIMIT);
    // The start, the end, and one word between them.
    if tokens < 3 {
        return Err(shape_of(&places, &matrix));
    }
    let mut positions = tensors.rows(&matrix, 0..tokens)?;
    let kinds = sized(tensors, &format!("{name}.token_type_embeddings.weight"), None, width)?;
    let kind = tensors.rows(&kinds, 0..1)?;
    for position in positions.chunks_exact_mut(width) {
        super::functions::add(position, &kind);
    }
    Ok(positions)
}

fn norm(tensors: &mut Tensors, name: &str, width: usize) -> Result<Norm, ModelError> {
    let gain = tensors.vector(&format!("{name}.weight"), width)?;
    Ok(Norm { gain, bias: tensors.vector(&format!("{name}.bias"), width)? })
}

fn layer(tensors: &mut Tensors, name: &str, width: usize) -> Result<Layer, ModelError> {
    let mut queries_keys_values = Linear::new(width);
    for part in ["query", "key", "value"] {
        let part = format!("{name}.attention.self.{part}");
        join(tensors, &mut queries_keys_values, &part, width, width)?;
    }
    let mut mix = Linear::new(width);
    join(tensors, &mut mix, &format!("{name}.attention.output.dense"), width, width)?;

    let wide = format!("{name}.intermediate.dense");
    let matrix = sized(tensors, &format!("{wide}.weight"), None, width)?;
    let inner = matrix.rows();
    if inner > WIDE_LIMIT {
        return Err(shape_of(&wide, &matrix));
    }
    let mut widen = Linear::new(width);
    join(tensors, &mut widen, &wide, inner, width)?;
    let mut narrow = Linear::new(inner);
    join(tensors, &mut narrow, &format!("{name}.output.dense"), width, inner)?;
    Ok(Layer {
        queries_keys_values,
        mix,
        mix_norm: norm(tensors, &format!("{name}.attention.output.LayerNorm"), width)?,
        widen,
        narrow,
        narrow_norm: norm(tensors, &format!("{name}.output.LayerNorm"), width)?,
    })
}

/// Adds the weights and the bias that `name` has to `linear`.
fn join(
    tensors: &mut Tensors,
    linear: &mut Linear,
    name: &str,
    outputs: usize,
    inputs: usize,
) -> Result<(), ModelError> {
    let matrix = sized(tensors, &format!("{name}.weight"), Some(outputs), inputs)?;
    let bias = tensors.vector(&format!("{name}.bias"), outputs)?;
    linear.append(tensors, &matrix, Some(bias))
}

/// Returns the matrix `name`, which must have `columns` columns, and `rows` rows if given.
fn sized(
    tensors: &Tensors,
    name: &str,
    rows: Option<usize>,
    columns: usize,
) -> Result<Matrix, ModelError> {
    let matrix = tensors.matrix(name)?;
    if matrix.columns() != columns || rows.is_some_and(|rows| rows != matrix.rows()) {
        return Err(shape_of(name, &matrix));
    }
    Ok(matrix)
}

fn shape_of(name: &str, matrix: &Matrix) -> ModelError {
    let found = vec![matrix.rows() as u64, matrix.columns() as u64];
    ModelError::Shape { tensor: name.to_owned(), found }
}
