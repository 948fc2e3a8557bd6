//! Callees as numbers.
//!
//! `wasm-opt` merges functions that differ in constants and callees. The merged function gets what
//! differs as parameters, and a callee as a reference to a function. Few engines could call such a
//! reference before 2024, and Node 20 can't. Every engine calls a function by its place in a table,
//! so here each reference becomes a place.

use anyhow::{Context as _, Result, ensure};
use std::borrow::Cow;
use wasm_encoder::reencode::{self, Error, Reencode};
use wasm_encoder::{ConstExpr, ElementSection, Elements, Instruction, Module, RefType};
use wasmparser::{ElementKind, ElementSectionReader, FunctionBody, HeapType, Operator, Parser, Payload, TableType};

/// Returns the module without references to functions.
pub fn as_numbers(module: &[u8]) -> Result<Vec<u8>> {
    let mut callees = Callees::of(module).context("the wasm can't be read")?;
    let mut result = Module::new();
    callees.parse_core_module(&mut result, Parser::new(0), module).context("the wasm can't be written")?;
    Ok(result.finish())
}

/// The functions that are referred to.
struct Callees {
    /// The table of functions.
    table: u32,
    /// Its length so far, which is the place of the first of them.
    first: u32,
    /// The functions in the order of their places.
    functions: Vec<u32>,
}

impl Callees {
    fn of(module: &[u8]) -> Result<Self> {
        let (mut table, mut functions) = (None, Vec::new());
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::TableSection(tables) => {
                    for (number, found) in (0..).zip(tables) {
                        let found = found?.ty;
                        if found.element_type.is_func_ref() {
                            ensure!(table.is_none(), "there are two tables of functions");
                            table = Some((number, u32::try_from(found.initial)?));
                        }
                    }
                }
                Payload::CodeSectionEntry(body) => Self::find(&body, &mut functions)?,
                _ => {}
            }
        }
        let (table, first) = table.context("there is no table of functions")?;
        Ok(Self { table, first, functions })
    }

    fn find(body: &FunctionBody<'_>, functions: &mut Vec<u32>) -> Result<()> {
        for operator in body.get_operators_reader()? {
            match operator? {
                Operator::RefFunc { function_index } if !functions.contains(&function_index) => {
                    functions.push(function_index);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The place of one of the functions.
    fn place(&self, function: u32) -> i32 {
        let index = self.functions.iter().position(|&other| other == function).expect("they were all found");
        i32::try_from(index).expect("fewer than two billion functions") + self.first.cast_signed()
    }
}

impl Reencode for Callees {
    type Error = std::convert::Infallible;

    fn val_type(&mut self, kind: wasmparser::ValType) -> Result<wasm_encoder::ValType, Error> {
        match kind {
            wasmparser::ValType::Ref(reference) if !matches!(reference.heap_type(), HeapType::Abstract { .. }) => {
                Ok(wasm_encoder::ValType::I32)
            }
            other => reencode::utils::val_type(self, other),
        }
    }

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Result<Instruction<'a>, Error> {
        Ok(match operator {
            Operator::RefFunc { function_index } => Instruction::I32Const(self.place(function_index)),
            Operator::CallRef { type_index } => Instruction::CallIndirect { type_index, table_index: self.table },
            other => reencode::utils::instruction(self, other)?,
        })
    }

    fn table_type(&mut self, kind: TableType) -> Result<wasm_encoder::TableType, Error> {
        let mut table = reencode::utils::table_type(self, kind)?;
        if table.element_type == RefType::FUNCREF {
            let more = self.functions.len() as u64;
            table.minimum += more;
            table.maximum = table.maximum.map(|maximum| maximum + more);
        }
        Ok(table)
    }

    /// Adds the functions to their table. Without references, they needn't be declared.
    fn parse_element_section(
        &mut self,
        elements: &mut ElementSection,
        section: ElementSectionReader<'_>,
    ) -> Result<(), Error> {
        for element in section {
            let element = element?;
            if !matches!(element.kind, ElementKind::Declared) {
                self.parse_element(elements, element)?;
            }
        }
        let start = ConstExpr::i32_const(self.first.cast_signed());
        elements.active(None, &start, Elements::Functions(Cow::Borrowed(&self.functions)));
        Ok(())
    }
}
